package tree_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/pawl-dev/pawl/internal/workspace/tree"
)

const helperVariable = "PAWL_TREE_TEST_MOUNT"

func TestMain(m *testing.M) {
	if spec := os.Getenv(helperVariable); spec != "" {
		if err := runMounted(spec); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

type mountSpec struct{ Lower, Upper, Work, Merged, Script string }

// runMounted runs in namespaces of its own. It mounts the view and becomes the shell, without capabilities of the user
// namespace.
func runMounted(spec string) error {
	var s mountSpec
	if err := json.Unmarshal([]byte(spec), &s); err != nil {
		return err
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	options := fmt.Sprintf("lowerdir=%s,upperdir=%s,workdir=%s,userxattr,volatile,index=off,xino=off", s.Lower, s.Upper, s.Work)
	if err := unix.Mount("overlay", s.Merged, "overlay", 0, options); err != nil {
		return fmt.Errorf("mount overlay: %w", err)
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return err
	}
	if err := os.Chdir(s.Merged); err != nil {
		return err
	}
	return syscall.Exec("/bin/sh", []string{"sh", "-c", s.Script}, []string{"PATH=" + os.Getenv("PATH")})
}

// sandbox is a project with the directories of one command after another.
type sandbox struct {
	t       *testing.T
	root    string
	state   string // of the transactions
	scratch string // of the views
	mask    string
	copies  bool // views are copies, not overlays
	n       int
	own     []tree.Identity
}

func newSandbox(t *testing.T) *sandbox {
	t.Helper()
	base := tempDir(t, "")
	s := &sandbox{t: t, root: filepath.Join(base, "root"), state: filepath.Join(base, "state"), scratch: filepath.Join(base, "views")}
	for _, dir := range []string{s.root, s.state, s.scratch} {
		must(t, os.Mkdir(dir, 0o755))
	}
	return s
}

// onViews runs a test on overlays and on copies.
func onViews(t *testing.T, test func(t *testing.T, s *sandbox)) {
	t.Helper()
	for name, copies := range map[string]bool{"overlay": false, "copy": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSandbox(t)
			s.copies = copies
			test(t, s)
		})
	}
}

// tempDir is t.TempDir for directories whose modes hinder their removal.
func tempDir(t *testing.T, parent string) string {
	t.Helper()
	dir, err := os.MkdirTemp(parent, "tree")
	must(t, err)
	must(t, os.Chmod(dir, 0o755))
	t.Cleanup(func() {
		if exec.Command("rm", "-rf", dir).Run() == nil {
			return
		}
		if out, err := exec.Command("sh", "-c", `chmod -R u+rwX "$0"; rm -rf "$0"`, dir).CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	})
	return dir
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// view runs a script in a new view and returns the transaction that applies what it did.
func (s *sandbox) view(script string) *tree.Transaction {
	s.t.Helper()
	s.n++
	dir := filepath.Join(s.scratch, fmt.Sprint(s.n))
	v := mountSpec{
		Lower: s.root, Upper: filepath.Join(dir, "upper"), Work: filepath.Join(dir, "work"),
		Merged: filepath.Join(dir, "merged"), Script: script,
	}
	for _, d := range []string{v.Upper, v.Work, v.Merged} {
		must(s.t, os.MkdirAll(d, 0o755))
	}
	if s.mask != "" {
		v.Lower = s.mask + ":" + s.root
	}
	since, err := tree.Now(s.root)
	must(s.t, err)
	tx := &tree.Transaction{
		Dir: filepath.Join(s.state, fmt.Sprint(s.n)), Root: s.root, Since: since, Own: s.own,
		View: tree.View{Upper: v.Upper, Lower: s.root, Mask: s.mask},
	}
	if s.copies {
		c, err := tree.NewCopy(s.t.Context(), tx.View, v.Merged)
		must(s.t, err)
		shell(s.t, v.Merged, script)
		must(s.t, c.Collect(s.t.Context(), v.Upper))
		tx.View = c.Complete(tx.View)
		return tx
	}
	spec, err := json.Marshal(v)
	must(s.t, err)
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), helperVariable+"="+string(spec))
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if os.Getuid() != 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags:  syscall.CLONE_NEWNS | syscall.CLONE_NEWUSER,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}},
			AmbientCaps: []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_DAC_OVERRIDE, unix.CAP_MKNOD, unix.CAP_FOWNER, unix.CAP_CHOWN},
		}
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Fatalf("%s: %v\n%s", script, err, out)
	}
	return tx
}

// command runs a script as a transaction.
func (s *sandbox) command(script string) tree.Result {
	s.t.Helper()
	return s.apply(s.view(script))
}

func (s *sandbox) apply(tx *tree.Transaction) tree.Result {
	s.t.Helper()
	changes, _ := s.scan(tx)
	res, err := tx.Apply(s.t.Context(), changes)
	must(s.t, err)
	s.own = res.Own
	return res
}

func (s *sandbox) scan(tx *tree.Transaction) ([]tree.Change, []tree.Dropped) {
	s.t.Helper()
	changes, dropped, err := tree.Scan(s.t.Context(), tx.View)
	must(s.t, err)
	return changes, dropped
}

// detach copies the changes, and destroys what they were in.
func (s *sandbox) detach(tx *tree.Transaction, changes []tree.Change) []tree.Change {
	s.t.Helper()
	to := tempDir(s.t, s.scratch)
	changes, err := tree.Detach(s.t.Context(), tx.View.Upper, changes, to)
	must(s.t, err)
	shell(s.t, tx.View.Upper, "chmod -R u+rwX . && find . -mindepth 1 -delete")
	tx.View.Upper = to
	return changes
}

// settle waits until the clock of the file system has moved on, so that what was changed so far is not the user's.
func (s *sandbox) settle() {
	s.t.Helper()
	settle(s.t, s.root)
}

func sorted(lines []string) []string {
	slices.Sort(lines)
	return lines
}

// shell runs a script as the user does.
func shell(t testing.TB, dir, script string) {
	t.Helper()
	cmd := exec.Command("/bin/sh", "-c", script)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", script, err, out)
	}
}

// listing describes a tree: one line for each entry, with its type, mode and content.
func listing(t testing.TB, dir string) []string {
	t.Helper()
	var out bytes.Buffer
	list(t, dir, "", &out)
	return strings.SplitAfter(out.String(), "\n")
}

func list(t testing.TB, dir, path string, out *bytes.Buffer) {
	t.Helper()
	full := filepath.Join(dir, path)
	info, err := os.Lstat(full)
	must(t, err)
	fmt.Fprintf(out, "%q %v", path, info.Mode())
	names := make([]byte, 4096)
	if n, _ := unix.Llistxattr(full, names); strings.Contains(string(names[:max(n, 0)]), "overlay") {
		fmt.Fprintf(out, " with %q", names[:n])
	}
	switch {
	case info.Mode().Type() == fs.ModeSymlink:
		target, err := os.Readlink(full)
		must(t, err)
		fmt.Fprintf(out, " -> %q\n", target)
	case info.IsDir():
		fmt.Fprintln(out)
		if info.Mode()&0o500 != 0o500 {
			must(t, os.Chmod(full, info.Mode()|0o500))
			defer func() { must(t, os.Chmod(full, info.Mode())) }()
		}
		entries, err := os.ReadDir(full)
		must(t, err)
		for _, e := range entries {
			list(t, dir, filepath.Join(path, e.Name()), out)
		}
	case info.Mode().IsRegular():
		if info.Mode()&0o400 == 0 {
			must(t, os.Chmod(full, info.Mode()|0o400))
			defer func() { must(t, os.Chmod(full, info.Mode())) }()
		}
		data, err := os.ReadFile(full)
		must(t, err)
		fmt.Fprintf(out, " %q %x\n", data[:min(len(data), 60)], sha256.Sum256(data))
	default:
		fmt.Fprintln(out)
	}
}
