package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// viewBackend is bubblewrap with a copy-on-write view of the workspace for each command.
type viewBackend struct {
	Bubblewrap
	t testing.TB
}

func (b *viewBackend) Name() string { return "view" }

func (b *viewBackend) Wrap(argv []string, p Profile) (Wrapped, error) {
	if p.ReadOnly {
		return b.Bubblewrap.Wrap(argv, p)
	}
	top, err := os.MkdirTemp(base(b.t), "view-")
	if err != nil {
		return Wrapped{}, err
	}
	v := View{Dir: resolve(p.Dir), Mask: filepath.Join(top, "mask"), Upper: filepath.Join(top, "upper"), Work: filepath.Join(top, "work"), Merged: filepath.Join(top, "merged")}
	for _, dir := range []string{v.Mask, v.Upper, v.Work, v.Merged} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return Wrapped{}, err
		}
	}
	p.Views = []View{v}
	w, err := b.Bubblewrap.Wrap(argv, p)
	if err != nil {
		return w, err
	}
	w.OnClose(func() {
		for _, dir := range []string{"work", "work/incompat", "work/incompat/volatile"} { // the kernel leaves them without permissions
			_ = os.Chmod(filepath.Join(v.Work, dir), 0o700)
		}
		_ = exec.Command("chmod", "-R", "u+rwx", v.Upper).Run()
		_ = os.RemoveAll(top)
	})
	return w, nil
}

// TestViewOutsideOfNamespace checks that a helper that is started without Wrapped.Attr mounts nothing: the view would be
// mounted in the namespace of Pawl, where every process sees it.
func TestViewOutsideOfNamespace(t *testing.T) { //nolint:paralleltest // its processes share HOME and what Release removes
	if !inNamespace(t) { // so that a failure does not mount anything on this machine
		return
	}
	dir := filepath.Join(base(t), "ws")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	backend := &viewBackend{Bubblewrap{Path: os.Getenv(overlayVar)}, t}
	for _, inside := range []bool{true, false} {
		w, err := backend.Wrap([]string{"echo", "it", "runs"}, Profile{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(w.Close)
		before := mountTable(t)
		cmd := exec.Command(w.Args[0], w.Args[1:]...)
		cmd.Env, cmd.ExtraFiles = w.Env, w.Files
		if inside {
			cmd.SysProcAttr = w.Attr
		}
		out, err := cmd.CombinedOutput()
		want := "pawl: sandbox: the view would be mounted for all processes\n"
		if inside {
			want = "it runs\n"
		}
		if string(out) != want || (err == nil) != inside {
			t.Errorf("in a namespace of its own %v: %v: %s", inside, err, out)
		}
		if after := mountTable(t); after != before {
			t.Errorf("in a namespace of its own %v: the mounts changed from\n%s\nto\n%s", inside, before, after)
		}
	}
}

// mountTable returns the mounts that this process sees.
func mountTable(t testing.TB) string {
	t.Helper()
	table, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	return string(table)
}
