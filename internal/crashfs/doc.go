// Package crashfs is a file system in memory that loses what was not synced. It
// implements [vfs.FS] for tests and answers the question that no real disk answers
// on demand: what may be left of these files if the power fails now?
//
// # What it tracks
//
// A file has a page cache (what reads show) and a device (what a power cut
// leaves), and between them, sector by sector, the versions that were written and
// not synced. A directory has its entries, the durable ones, and the changes
// between them. [FS.Images] makes, of one moment, the file systems that a power
// cut may leave: every subset of the pending directory changes, times every variant
// of the pending data: nothing, each prefix of the sectors (the rest short, NUL,
// old or garbage), each sector missing, the size alone, a cut inside a sector, all.
// [FS.Clone] makes what kill -9 leaves: everything, as the kernel outlives the
// process.
//
// # What it assumes
//
// A power cut changes no byte that was not being written (powersafe overwrite). It
// does not assume that sectors are atomic, that data reaches the disk in order, or
// that a file's size and its data arrive together. rename and link are atomic. A
// file's sync makes its data and size durable, not its name; a directory's sync
// makes names durable, not data. Real file systems promise more here and there;
// nobody should need it.
//
// A failed sync drops the dirty data: the page cache goes on showing it, the next
// sync returns nil, and [vfs.File.DropCache] shows what the device has. That is
// what ext4, xfs and btrfs do. The cache is dropped in folios of a megabyte, as large
// writes make them.
//
// # What it does not show
//
// A failed sync of a directory leaves its changes pending: a later sync makes them durable,
// where a real kernel may have forgotten them. Of several dirty files one is varied at a
// time, the others are all old or all new. Of more than six pending changes of names not every
// subset is made. An image with garbage, bytes that nobody wrote, may be refused by a reader
// that cannot tell it from damage: tests count those and go on, and so prove less of them. A
// file's time of change is always zero, so that nothing can rest on it, and who looks at it is not
// tested. There are no links but hard ones, no permissions, and no space that ends, but for the
// faults that a test sets.
package crashfs
