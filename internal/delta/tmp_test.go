package delta
import ("testing";"math/rand";"fmt";"slices")
func TestShapes(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	type small struct{ A int `json:"a"`; B string `json:"b"`; C bool `json:"c"`; D float64 `json:"d"`}
	ints := make([]int, 2_900_000); for i := range ints { ints[i]=r.Intn(1000000) }
	smalls := make([]small, 400_000); m := map[string]small{}
	for i := range smalls { smalls[i] = small{i, fmt.Sprint("v",i%77), i%2==0, r.Float64()}; m[fmt.Sprintf("key%07d",i*3)] = smalls[i] }
	run := func(name string, old, new any) {
		e := median(func(){ encode(t,new) })
		a,b := encode(t,old), encode(t,new)
		var p []byte
		dd := median(func(){ p,_ = Diff(a,b) })
		got, err := Apply(a,p)
		ap := median(func(){ Apply(a,p) })
		fmt.Printf("%-24s %d B: encode %v diff %v ratio %.2f patch %d, apply %v ok %v\n", name, len(b), e, dd, float64(dd)/float64(e), len(p), ap, err==nil&&string(got)==string(b))
	}
	type S struct{ N int; V any }
	run("ints append", S{1,ints}, S{2,append(slices.Clip(ints),7)})
	e := slices.Clone(ints); e[1400000]++
	run("ints edit", S{1,ints}, S{2,e})
	run("ints remove", S{1,ints}, S{2,slices.Delete(slices.Clone(ints),5,6)})
	run("ints shift+append", S{1,ints}, S{2,append(slices.Clone(ints[1:]),5)})
	run("smalls append", S{1,smalls}, S{2,append(slices.Clip(smalls),small{})})
	s2 := slices.Clone(smalls); s2[200000].D++
	run("smalls edit", S{1,smalls}, S{2,s2})
	for i := range s2 {s2[i].D++}
	run("smalls all edited", S{1,smalls}, S{2,s2})
	cl := func() map[string]small { n := map[string]small{}; for k,v := range m {n[k]=v}; return n}
	m2 := cl(); m2["key0600001"]=small{}
	run("map insert", S{1,m}, S{2,m2})
	m2 = cl(); m2["key0600000"]=small{}
	run("map edit", S{1,m}, S{2,m2})
	m2 = cl(); delete(m2,"key0600000")
	run("map remove", S{1,m}, S{2,m2})
	m2 = cl(); for i := range 1000 { m2[fmt.Sprintf("key%07d",i*300+1)] = small{} }
	run("map 1000 inserts", S{1,m}, S{2,m2})
}
