package tree_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/pawl-dev/pawl/internal/workspace/tree"
)

// What the user changes while a command runs stays, and the command's version is kept aside.
func TestConflicts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		command, user string
		want          []string // conflicts, with what was kept
		check         string   // on the result
	}{
		"both modify":       {`echo c >f`, `echo u >f`, []string{"f c"}, `test "$(cat f)" = u`},
		"same time":         {`echo c >f`, `touch -r f t; echo u12 >f; touch -r t f; rm t`, []string{"f c"}, `test "$(cat f)" = u12`},
		"user chmods":       {`echo c >f`, `chmod 600 f`, []string{"f c"}, `test "$(cat f)" = one`},
		"user deletes":      {`chmod 600 f`, `rm f`, []string{"f one"}, `test ! -e f`},
		"renamed":           {`mv f g; ln db db2; mv d/x y; rm -r d; mkdir d`, `true`, nil, `test ! -e f; test -e g; test -e db2; test -e y`},
		"linked":            {`ln db db2`, `true`, nil, `test -e db2`},
		"dir replaced":      {`echo c >d/x; rm d/h3; echo n >d/n`, `mv d d2; mv u d; echo x >d/x`, []string{"d/x c"}, `test "$(cat d/x)" = x; test -e d2/h3; test -e d/n`},
		"dir exchanged":     {`echo c >d/e/y; rm d/x`, `mv d d2; mv twin d`, []string{"d/e/y c"}, `test "$(cat d/e/y)" = twin; test -e d/x`},
		"user replaces":     {`echo c >f`, `echo u >t; mv t f`, []string{"f c"}, `test "$(cat f)" = u`},
		"both create":       {`echo c >n`, `echo u >n`, []string{"n c"}, `test "$(cat n)" = u`},
		"both create dirs":  {`mkdir n; echo c >n/c`, `mkdir n; echo u >n/u`, nil, `test -e n/u; test -e n/c`},
		"command deletes":   {`rm f`, `echo u >>f`, []string{"f"}, `test "$(tail -n1 f)" = u`},
		"both delete":       {`rm f`, `rm f`, nil, `test ! -e f`},
		"delete directory":  {`rm -r d`, `echo u >d/x`, []string{"d", "d/x"}, `test "$(cat d/x)" = u; test ! -e d/e`},
		"new in deleted":    {`rm -r d`, `echo u >d/u`, []string{"d", "d/e", "d/e/y", "d/h3", "d/u", "d/x"}, `test "$(cat d/u)" = u`},
		"moved to deleted":  {`rm -r d`, `mv deep d/e/deep`, []string{"d", "d/e", "d/e/deep", "d/e/deep/a", "d/e/deep/a/b", "d/e/deep/a/b/c", "d/e/deep/a/b/c/z", "d/e/y"}, `test -e d/e/deep/a/b/c/z`},
		"moved to replaced": {`rm -r d; mkdir d`, `mv deep d/deep`, []string{"d/deep", "d/deep/a", "d/deep/a/b", "d/deep/a/b/c", "d/deep/a/b/c/z", "d/e", "d/e/y", "d/h3", "d/x"}, `test -e d/deep/a/b/c/z`},
		"moved to created":  {`mkdir t; mv t n`, `mv deep n`, []string{"n/a", "n/a/b", "n/a/b/c", "n/a/b/c/z"}, `test -e n/a/b/c/z`},
		"user deletes dir":  {`echo c >d/x; echo n >d/n`, `rm -r d`, []string{"d/n n", "d/x c"}, `test ! -e d`},
		"dir to link":       {`echo c >d/x; echo n >d/n; rm d/e/y`, `mv d d2; ln -s d2 d`, []string{"d/n n", "d/x c"}, `test "$(cat d2/x)" = two; test ! -e d2/n; test -e d2/e/y`},
		"dir to file":       {`echo n >d/n`, `rm -r d; echo u >d`, []string{"d/n n"}, `test "$(cat d)" = u`},
		"file to dir":       {`echo c >f`, `rm f; mkdir f`, []string{"f c"}, `test -d f`},
		"dir mode":          {`chmod 700 d; echo n >d/n`, `chmod 711 d`, []string{"d"}, `test -e d/n; test "$(stat -c %a d)" = 711`},
		"other entries":     {`echo c >d/n; rm d/x`, `echo u >d/u; echo u >d/e/y`, nil, `test -e d/n; test ! -e d/x; test "$(cat d/e/y)" = u`},
		"a unit":            {`echo c >u/1; echo c >u/2; rm u/3; echo n >u/4; echo c >f`, `echo u >u/2`, []string{"u/1 c", "u/2 c", "u/3", "u/4 n"}, `test "$(cat u/1 u/2 u/3 f)" = "1` + "\nu\n3\nc" + `"; test ! -e u/4`},
	} {
		t.Run(name, func(t *testing.T) {
			onViews(t, func(t *testing.T, s *sandbox) {
				shell(t, s.root, project+`mkdir -p u twin/e; echo twin >twin/e/y; echo twin >twin/x; for i in 1 2 3; do echo $i >u/$i; done`)
				s.settle()
				dirs := inodes(t, s.root)
				tx := s.view(c.command)
				want := c.want
				if !s.copies {
					tx.View.Dirs = dirs
				} else if strings.HasPrefix(name, "moved to ") && name != "moved to deleted" {
					want = nil // a copy shows which entries the command deleted
				}
				shell(t, s.root, c.user)
				changes, _ := s.scan(tx)
				for i := range changes {
					if strings.HasPrefix(changes[i].Path, "u/") {
						changes[i].Unit = "u"
					}
				}
				res, err := tx.Apply(t.Context(), changes)
				must(t, err)
				if diff := cmp.Diff(want, describeConflicts(t, res)); diff != "" {
					t.Errorf("(-want +got)\n%s", diff)
				}
				shell(t, s.root, "set -ex; "+c.check)
			})
		})
	}
}

// inodes returns the inodes of the directories in a tree.
func inodes(t *testing.T, root string) map[string]uint64 {
	t.Helper()
	dirs := map[string]uint64{}
	must(t, filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		var st unix.Stat_t
		if name, _ := filepath.Rel(root, path); err == nil && d.IsDir() {
			must(t, unix.Lstat(path, &st))
			dirs[name] = st.Ino
		}
		return err
	}))
	return dirs
}

func describeConflicts(t *testing.T, res tree.Result) []string {
	t.Helper()
	var out []string
	for _, c := range res.Conflicts {
		line := c.Path
		if c.Kept != "" {
			data, err := os.ReadFile(c.Kept)
			must(t, err)
			line += " " + strings.TrimSpace(string(data))
		}
		out = append(out, line)
	}
	return sorted(out)
}

// A swap of a directory for a link, between any two operations, leads nothing outside.
func TestSwapDuringApply(t *testing.T) {
	t.Parallel()
	for _, variant := range []string{"move", "copy", "elsewhere"} {
		t.Run(variant, func(t *testing.T) {
			t.Parallel()
			points := 1
			for at := 1; at <= points; at++ {
				points = swapAt(t, variant, at)
			}
			if points < 20 {
				t.Errorf("only %d points", points)
			}
		})
	}
}

func swapAt(t *testing.T, variant string, at int) (points int) {
	t.Helper()
	s := newSandbox(t)
	if variant == "elsewhere" {
		s.state = tempDir(t, "/dev/shm")
	}
	shell(t, s.root, `mkdir -p a/b; for i in 1 2 3 4 5 6; do echo $i >a/b/$i; done; mkdir -p ../outside/b/sub; echo out >../outside/b/1; echo out >../outside/b/5`)
	outside := filepath.Join(filepath.Dir(s.root), "outside")
	before := listing(t, outside)
	tx := s.view(`cd a/b; mkdir sub; for i in 1 2; do echo c >$i; done; chmod 600 3; rm 4 5; for i in 7 8; do echo n >$i; done; echo n >sub/n`)
	tx.Copy = variant == "copy"
	tx.SetHook(func(string) error {
		if points++; points == at {
			shell(t, s.root, `mv a away; ln -s ../outside a`)
		}
		return nil
	})
	changes, _ := s.scan(tx)
	_, err := tx.Apply(t.Context(), changes)
	must(t, err)
	if diff := cmp.Diff(before, listing(t, outside)); diff != "" {
		t.Errorf("swap at %d: the directory outside changed (-before +after)\n%s", at, diff)
	}
	return points
}

// withFile returns a sandbox with the file f, and the transaction of a command.
func withFile(t *testing.T, command string) (*sandbox, *tree.Transaction) {
	t.Helper()
	s := newSandbox(t)
	shell(t, s.root, `echo one >f; echo two >e`)
	s.settle()
	return s, s.view(command)
}

// applyConflicts applies a transaction and checks how many conflicts it meets.
func (s *sandbox) applyConflicts(tx *tree.Transaction, want int) {
	s.t.Helper()
	if res := s.apply(tx); len(res.Conflicts) != want {
		s.t.Errorf("conflicts %+v, want %d", res.Conflicts, want)
	}
}

// contains checks the content of the file f; "" means that it does not exist.
func (s *sandbox) contains(want string) {
	s.t.Helper()
	data, err := os.ReadFile(filepath.Join(s.root, "f"))
	if string(data) != want || errors.Is(err, os.ErrNotExist) != (want == "") {
		s.t.Errorf("the file contains %q, %v", data, err)
	}
}

// appendTo opens the file f for writing, and returns a function that writes to it.
func (s *sandbox) appendTo() func() error {
	s.t.Helper()
	f, err := os.OpenFile(filepath.Join(s.root, "f"), os.O_WRONLY|os.O_APPEND, 0)
	must(s.t, err)
	s.t.Cleanup(func() { _ = f.Close() })
	return func() error {
		_, err := f.WriteString("user\n")
		return err
	}
}

// A program that has a file open for writing before it is replaced or deleted does not lose what it writes.
func TestOpenForWriting(t *testing.T) {
	t.Parallel()
	for _, script := range []string{`echo c >f`, `rm f`} {
		t.Run(script, func(t *testing.T) {
			t.Parallel()
			s, tx := withFile(t, script)
			write := s.appendTo()
			s.applyConflicts(tx, 1)
			must(t, write())
			s.contains("one\nuser\n")
		})
	}
}

// Without leases, a write to a file that was moved away is found at the end.
func TestWriteAfterMove(t *testing.T) {
	t.Parallel()
	for _, script := range []string{`echo c >f; echo n >g`, `rm f; rm e`} {
		t.Run(script, func(t *testing.T) {
			t.Parallel()
			s, tx := withFile(t, script)
			tx.DisableLeases()
			write := s.appendTo()
			tx.SetHook(func(point string) error {
				if point == "apply 1" {
					return write()
				}
				return nil
			})
			s.applyConflicts(tx, 1)
			s.contains("one\nuser\n")
		})
	}
}

// A change in the moment before an entry is moved is found after the move, which is undone.
func TestChangeBeforeMove(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		command, user, want string
		conflicts           int
	}{
		"replaced, replaced": {`echo c >f`, `echo user >t; mv t f`, "user\n", 1},
		"replaced, deleted":  {`echo c >f`, `rm f`, "", 1},
		"deleted, replaced":  {`rm f`, `echo user >t; mv t f`, "user\n", 1},
		"deleted, deleted":   {`rm f`, `rm f`, "", 0},
		"created, created":   {`echo c >n; mv n f2`, `echo user >f2; rm f; ln f2 f`, "user\n", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, tx := withFile(t, c.command)
			tx.SetHook(func(point string) error {
				if strings.HasPrefix(point, "move") {
					shell(t, s.root, c.user)
				}
				return nil
			})
			s.applyConflicts(tx, c.conflicts)
			s.contains(c.want)
		})
	}
}

// A program that opens a file for writing while it is moved away waits, and then finds it in place.
func TestOpenDuringMove(t *testing.T) {
	t.Parallel()
	for _, script := range []string{`echo c >f`, `rm f`} {
		t.Run(script, func(t *testing.T) {
			t.Parallel()
			s, tx := withFile(t, script)
			tx.SetHook(func(point string) error {
				if strings.HasPrefix(point, "move") {
					_, err := unix.Open(filepath.Join(s.root, "f"), unix.O_WRONLY|unix.O_NONBLOCK, 0)
					if !errors.Is(err, unix.EAGAIN) {
						t.Errorf("the file can be opened: %v", err)
					}
				}
				return nil
			})
			s.applyConflicts(tx, 1)
			s.contains("one\n")
		})
	}
}

// Commands that follow each other at once meet no conflict, even if they change the same files.
func TestBackToBack(t *testing.T) {
	t.Parallel()
	dir := tempDir(t, "/dev/shm")
	root := filepath.Join(dir, "root")
	must(t, os.MkdirAll(filepath.Join(root, "d"), 0o755))
	must(t, os.WriteFile(filepath.Join(root, "h1"), nil, 0o644))
	must(t, os.Link(filepath.Join(root, "h1"), filepath.Join(root, "h2")))
	settle(t, root)
	var own []tree.Identity
	for i := range 300 {
		if i > 0 {
			tree.RemoveAll(filepath.Join(dir, fmt.Sprint("tx", i-1)))
		}
		since, err := tree.Now(root)
		must(t, err)
		upper := filepath.Join(dir, fmt.Sprint("upper", i))
		must(t, os.MkdirAll(filepath.Join(upper, "d"), 0o755))
		for _, name := range []string{"f", "d/x", fmt.Sprint("d/", i)} {
			must(t, os.WriteFile(filepath.Join(upper, name), []byte(fmt.Sprint(i)), 0o644))
		}
		if i < 2 { // delete one link, then the other
			must(t, unix.Mknod(filepath.Join(upper, fmt.Sprint("h", i+1)), unix.S_IFCHR, 0))
		}
		if i%2 == 1 { // delete a directory that the last command changed
			must(t, os.RemoveAll(filepath.Join(upper, "d")))
			must(t, unix.Mknod(filepath.Join(upper, "d"), unix.S_IFCHR, 0))
		}
		tx := tree.Transaction{
			Dir: filepath.Join(dir, fmt.Sprint("tx", i)), Root: root, Since: since, Own: own,
			View: tree.View{Upper: upper, Lower: root},
		}
		changes, _, err := tree.Scan(t.Context(), tx.View)
		must(t, err)
		res, err := tx.Apply(t.Context(), changes)
		must(t, err)
		if len(res.Conflicts) > 0 {
			t.Fatalf("command %d: %+v", i, res.Conflicts)
		}
		own = res.Own
	}
}

// The clock of a file system is read without a visible file.
func TestNow(t *testing.T) {
	t.Parallel()
	dir := tempDir(t, "")
	before, err := tree.Now(dir)
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, "f"), nil, 0o644))
	after, err := tree.Now(dir)
	must(t, err)
	if before > after {
		t.Errorf("%d is after %d", before, after)
	}
	entries, err := os.ReadDir(dir)
	must(t, err)
	if len(entries) != 1 {
		t.Errorf("%v", entries)
	}
}
