package journalfile_test

import (
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"
)

// lateMutants are bugs that a review with fresh eyes planted, and no test found; some of them it
// did not have to plant. Each has a test of its own since.
var lateMutants = []mutant{
	// Acknowledged, and lost.
	{"file_path.go", "err := fsys.SyncDir(parent)\n", "var err error\n", ".", "TestDirectoriesThatADeadProcessMade"},
	{"internal/journalfile/file.go", "if j.err != nil {\n\t\treturn 0, j.err", "if err != nil {\n\t\treturn 0, j.err", "internal/journalfile", "TestUndoBesideAFlush"},
	{"internal/journalfile/file.go", "return upTo, nil", "return max(upTo, j.seq), nil", "internal/journalfile", "TestFlushClaimsWhatItBegan"},
	{"internal/journalfile/file.go", "if earlier != nil {", "if earlier != nil || j.err != nil {", "internal/journalfile", "TestCloseReportsItsFlush"},
	{"internal/journalfile/file.go", "j.err = fmt.Errorf(\"%w: after a failed", "return fmt.Errorf(\"%w: after a failed", "internal/journalfile", "TestPoisonByUndo"},
	{"internal/journalfile/file.go", "j.fail(err)\n\t\treturn j.err\n\t}\n\treturn cause", "return cause\n\t}\n\treturn cause", "internal/journalfile", "TestPoisonByUndo"},
	{"internal/journalfile/file.go", "j.synced.Broadcast()", "j.synced.Signal()", "internal/journalfile", "TestFlushWakesAllWhoWait"},
	{"file_save.go", "if err == nil && again {", "if err == nil && again && false {", ".", "TestSavedOverAfterTheLockWasRemoved"},
	{"state.go", "return b.checkOurs(\"save\")", "return nil", ".", "TestSavingAnEqualStateLooksFirst"},
	{"run_state.go", "if err := r.checkLog(); err != nil {", "if err := r.checkLog(); err != nil && false {", ".", "TestSavingAnEqualStateOfARunLooksFirst"},
	{"internal/journalfile/create.go", "vfs.RenameNew(j.fs, temp, j.path)", "j.fs.Rename(temp, j.path)", "internal/journalfile", "TestCreateNeverReplaces"},
	{"internal/journalfile/create.go", "if err := j.identity(); err != nil {", "if err := j.identity(); err != nil && false {", "internal/journalfile", "TestCreateNamesItsOwnFile"},
	{"internal/vfs/name.go", "if _, err := fsys.Lstat(newname); err == nil {", "if _, err := fsys.Lstat(newname); err == nil && false {", "internal/vfs", "TestRenameNew"},
	{"run.go", "if !r.lock.Intact() {", "if !r.lock.Intact() && false {", ".", "TestCreateChecksItsLock"},
	{"internal/dirstore/create.go", "if _, err := d.FS.Lstat(name); !errors", "if _, err := d.FS.Lstat(name); err != nil && !errors", "internal/dirstore", "TestOneUIDWithoutHardLinks"},
	{"internal/dirstore/create.go", "l, err := d.waitForLock(name + lockExt)", "l, err := d.waitForLock(temp + lockExt)", "internal/dirstore", "TestOneUIDWithoutHardLinks"},
	{"internal/dirstore/dirstore.go", " || m.UID == \"\"", "", "internal/dirstore", "TestOpenRefuses"},

	// Replaced, and not seen.
	{"internal/journalfile/look.go", "ErrInDoubt, err)\n\t\tj.err = err\n", "ErrInDoubt, err)\n", "internal/journalfile", "TestLookFails"},
	{"internal/journalfile/file.go", "j.setMark(lineEnd, j.size, crc)", "j.setMark(\"\", j.size, crc)", "internal/journalfile", flushing},
	{"internal/journalfile/file.go", "j.beginFlush(math.MaxInt64)\n", "_ = math.MaxInt64\n", "internal/journalfile", "TestCloseWaitsForAFlush"},
	{"internal/journalfile/look.go", "if behind > 0 && (", "if behind > 9 && (", "internal/journalfile", replaced},
	{"internal/journalfile/look.go", "string(b[:len(j.mark)]) != string(j.mark)", "false", "internal/journalfile", replaced},
	{"internal/journalfile/open.go", "j.setMark(\"\", s.last, s.crc)\n", "", "internal/journalfile", "TestReplacedAfterOpening"},
	{"internal/journalfile/rewrite.go", "j.setMark(\"\", w.last, w.crc)\n", "", "internal/journalfile", "TestReplacedAfterOpening"},

	// Locks.
	{"internal/lock/lock.go", "if !stillAt(f, path) {", "if false {", "internal/lock", "TestReplacedBetweenOpenAndLock"},
	{"internal/lock/lock_unix.go", "errors.Is(err, unix.EINTR)", "errors.Is(err, unix.EINTR) && false", "internal/lock", "TestLockInterrupted"},
	{"internal/lock/lock.go", "defer f.Close()\n\t\t\tif errors", "if errors", "internal/lock", "TestNoDescriptorLeaks"},
	{"internal/lock/lock.go", "l.writeOwner(); err != nil {\n\t\t\tf.Close()", "l.writeOwner(); err != nil {", "internal/lock", "TestNoDescriptorLeaks"},
	{"internal/lock/lock.go", "if !stillAt(f, path) {\n\t\t\tf.Close()", "if !stillAt(f, path) {", "internal/lock", "TestNoDescriptorLeaks"},
	{"internal/lock/lock.go", "l.f.Truncate(0) //nolint:errcheck // it is", "//nolint:errcheck // it is", "internal/lock", "TestReleasedLockNamesNobody"},
	{"internal/lock/lock.go", "if err := unlock(f); err != nil {", "if err := error(nil); err != nil {", "internal/lock", "TestLookingLetsGo"},
	{"end.go", "errors.Join(log.Close(), l.Release())", "errors.Join(l.Release(), log.Close())", ".", "TestLockIsReleasedLast"},
	{"run.go", "errors.Join(r.log.Close(), r.lock.Release())", "errors.Join(r.lock.Release(), r.log.Close())", ".", "TestLockIsReleasedLast"},
	{"run.go", "r.log.Close() //nolint:errcheck // nothing", "//nolint:errcheck // nothing", ".", "TestFailedBeginLeaksNoDescriptor"},
	{"run.go", "r.lock.Release() //nolint:errcheck // ends", "//nolint:errcheck // ends", ".", "TestFailedBeginLeaksNoDescriptor"},
	{"run.go", "case h.Store != r.store.dir.UID:", "case false:", ".", "TestRunOfAnotherStore"},
	{"run.go", "if err := syncReader(f); err != nil {", "if err := error(nil); err != nil {", ".", "TestResultOfAnOwnedRunIsFlushed"},

	// The file system.
	{"internal/vfs/identity_linux.go", "return named.id() == id, int64(mine.Size), nil", "return named.id() == id, int64(named.Size), nil", "internal/vfs", "TestIdentify"},
	{"internal/vfs/identity_linux.go", "if err != nil || named.id() == *id {", "if true {", "internal/vfs", "TestIdentify"},
	{"internal/vfs/identity_linux.go", "err = untilNotInterrupted(func() error {\n\t\treturn statx(unix.AT_FDCWD, name, unix.AT_SYMLINK_NOFOLLOW, statxWant, (*unix.Statx_t)(&r))\n\t})", "err = statx(unix.AT_FDCWD, name, unix.AT_SYMLINK_NOFOLLOW, statxWant, (*unix.Statx_t)(&r))", "internal/vfs", "TestIdentifyInterrupted"},

	// Compaction, opening and repair.
	{"internal/journalfile/rewrite.go", "if err := SyncDir(j.fs, dirOf(j.path), warn); err != nil {", "if err := error(nil); err != nil {", "internal/journalfile", crash},
	{"internal/journalfile/rewrite.go", "j.durable = w.seq\n", "j.durable = w.seq + 1\n", "internal/journalfile", crash},
	{"internal/journalfile/rewrite.go", "w.fs.Remove(w.name) //nolint", "//nolint", "internal/journalfile", "TestCompactionLeavesNoTemp"},
	{"internal/journalfile/rewrite.go", "(w.size+int64(len(w.buf)-start)-1)%sector == 0", "false", "internal/journalfile", "TestCompactionPads"},
	{"internal/journalfile/rewrite.go", "vfs.KeepOwner(f, info, warn)", "_ = info", "internal/journalfile", "TestCompactionKeepsOwner"},
	{"internal/journalfile/rewrite.go", "errors.Join(err, lockFile(f))", "err", "internal/journalfile", "TestCompactedJournalIsLocked"},
	{"internal/journalfile/rewrite.go", "j.f.Close() //nolint:errcheck // everything", "//nolint:errcheck // everything", "internal/journalfile", "TestNoDescriptorLeaks"},
	{"internal/journalfile/open.go", "f.Close() //nolint:errcheck // nothing", "//nolint:errcheck // nothing", "internal/journalfile", "TestNoDescriptorLeaks"},
	{"internal/journalfile/open.go", "j.fs.Remove(name) //nolint", "_ = name //nolint", "internal/journalfile", "TestOpenRemovesLeftovers"},
	{"internal/journalfile/repair.go", "if !dry {", "if true {", "internal/journalfile", "TestRepairLocks"},
	{"internal/journalfile/repair.go", "if err := lockFile(f); err != nil {", "if err := error(nil); err != nil {", "internal/journalfile", "TestRepairLocks"},
	{"internal/journalfile/repair.go", "w.discard()\n", "", "internal/journalfile", "TestRepairFailsCleanly"},
	{"internal/journalfile/repair.go", "rep.HeaderLost && who.ID == \"\"", "false", "internal/journalfile", "TestRepairNeedsAnID"},
	{"internal/journalfile/repair.go", "err = SyncDir(fsys, dirOf(path), warn)", "_ = warn", "internal/journalfile", "TestCrashWhileRepairing"},
	{"internal/journalfile/repair.go", "return SyncDir(fsys, dirOf(path), warn)", "return nil", "internal/journalfile", "TestCrashWhileRepairing"},
	{"internal/journalfile/repair.go", "err = w.finish()", "err = w.flush()", "internal/journalfile", "TestCrashWhileRepairing"},
	{"internal/journalfile/original.go", "if same {\n\t\t\treturn name, nil", "if same && false {\n\t\t\treturn name, nil", "internal/journalfile", "TestRepairFailsCleanly"},
	{"internal/journalfile/original.go", "if err == nil {\n\t\t\tcontinue // another one", "if err == nil && false {\n\t\t\tcontinue // another one", "internal/journalfile", "TestRepairKeepsOlderOriginals"},
	{"internal/journalfile/original.go", "w.discard()\n", "", "internal/journalfile", "TestRepairFailsCleanly"},
	{"internal/journalfile/original.go", "err = w.f.Sync()", "err = error(nil)", "internal/journalfile", "TestCrashWhileRepairing"},
	{"internal/journalfile/original.go", "if vfs.NoLinks(err) {", "if vfs.NoLinks(err) && false {", "internal/journalfile", "TestCrashWhileRepairing"},

	// A file, Level 1.
	{"file_save.go", "if err := b.syncDir(op); err != nil {\n\t\treturn err\n\t}\n\tb.cur =", "b.prune()\n\tif err := b.syncDir(op); err != nil {\n\t\treturn err\n\t}\n\tb.cur =", ".", "TestPowerCut"},
	{"file_save.go", "b.fs.SameFile(now, b.cur.info) && now", "now", ".", "TestForeignFileOfOneSizeAndTime"},
	{"file_save.go", " && now.Size() == b.cur.size", "", ".", "TestForeignFileOfOneSizeAndTime"},
	{"file_save.go", "if closed := f.Close(); err == nil {", "if closed := f.Close(); err == nil && false {", ".", "TestCloseOfTheNewFileFails"},
	{"file_save.go", "return nil // it happened all the same", "return b.inDoubt(op, err)", ".", "TestRenameThatFailed"},
	{"file_save.go", "lookErr != nil || !b.fs.SameFile(still, info)", "lookErr == nil && still == nil", ".", "TestRenameThatFailed"},
}

// someMutants chooses a few, others each day, or those of PAWL_SEED, so that all of them have their
// turn.
func someMutants(t *testing.T, all []mutant, few int) []mutant {
	n, err := strconv.Atoi(os.Getenv("PAWL_SEED"))
	if err != nil {
		n = int(time.Now().Unix() / (24 * 60 * 60))
	}
	t.Logf("seed: PAWL_SEED=%d", n)
	all = slices.Clone(all)
	rand.New(rand.NewPCG(1, 1)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] }) // quick ones and slow ones
	start := n * few % len(all)
	return append(all[start:], all[:start]...)[:few]
}
