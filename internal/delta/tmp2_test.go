package delta
import ("testing";"math/rand";"fmt")
func BenchmarkAll(b *testing.B) {
	r := rand.New(rand.NewSource(1))
	type small struct{ A int `json:"a"`; B string `json:"b"`; C bool `json:"c"`; D float64 `json:"d"`}
	smalls := make([]small, 400_000)
	fl := make([]float64, 1_000_000)
	fl2 := make([]float64, 1_000_000)
	for i := range smalls { smalls[i] = small{i, fmt.Sprint("v",i%77), i%2==0, r.Float64()} }
	for i := range fl { fl[i]=r.Float64(); fl2[i]=r.Float64() }
	old := encode(b, smalls)
	for i := range smalls { smalls[i].D++ }
	new := encode(b, smalls)
	b.Run("small", func(b *testing.B){ for b.Loop() { Diff(old,new) }})
	f1,f2 := encode(b,fl), encode(b,fl2)
	b.Run("floats", func(b *testing.B){ for b.Loop() { Diff(f1,f2) }})
	b.Run("encodefloats", func(b *testing.B){ for b.Loop() { encode(b,fl) }})
}
