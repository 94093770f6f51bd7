package memfs

// Touch calls those who watch the directory above dir, before it returns.
func (f *FS) Touch(dir string) { f.watchers.Touch(dir) }

// Watch calls changed for each entry of dir that is touched: the call comes from the one who
// touches it, so that nobody needs to wait or to look, least of all where time is fake.
func (f *FS) Watch(dir string, changed func(name string), _ func()) (stop func(), err error) {
	return f.watchers.Add(dir, changed), nil
}
