package tree_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/pawl-dev/pawl/internal/workspace/tree"
)

// describe shows changes in short: + created, - deleted, * modified, ~ same content.
func describe(changes []tree.Change) []string {
	var out []string
	for _, c := range changes {
		sign := "*"
		switch {
		case c.Old.Type == tree.Missing:
			sign = "+"
		case c.New.Type == tree.Missing:
			sign = "-"
		case c.SameContent:
			sign = "~"
		}
		out = append(out, sign+c.Path)
	}
	return out
}

func TestScan(t *testing.T) {
	t.Parallel()
	for script, want := range map[string][]string{
		`true`:                              nil,
		`: >>f; chmod 600 f; chmod 644 f`:   nil,
		`cp -p f t; cat t >f; touch -r t f`: {"+t"}, // the same content and time
		`touch f`:                           {"~f"},
		`chmod 600 f`:                       {"~f"},
		`chmod 700 d`:                       {"*d"},
		`printf XXX | dd of=f conv=notrunc; touch -r h1 f`: {"*f"},
		`touch d; touch d/e/z`:                             {"+d/e/z"},
		`rm -r d; mkdir d; echo two >d/x`:                  {"-d/e", "-d/e/y", "-d/h3", "~d/x"},
		`rm -r d; ln -s d2 d`:                              {"*d", "-d/e", "-d/e/y", "-d/h3", "-d/x"},
		`rm link; ln -s f link`:                            nil,
	} {
		t.Run(script, func(t *testing.T) {
			t.Parallel()
			onViews(t, func(t *testing.T, s *sandbox) {
				shell(t, s.root, project)
				changes, dropped := s.scan(s.view(script + " 2>/dev/null"))
				if diff := cmp.Diff(want, describe(changes)); diff != "" || dropped != nil {
					t.Errorf("(-want +got)\n%s%v", diff, dropped)
				}
			})
		})
	}
}

// The modification time is applied: make goes by it.
func TestModificationTime(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	shell(t, s.root, project)
	s.command(`touch -d 2020-02-02T00:00:00Z f; echo x >n; touch -d 2021-02-02T00:00:00Z n`)
	for name, want := range map[string]int{"f": 2020, "n": 2021} {
		info, err := os.Stat(filepath.Join(s.root, name))
		must(t, err)
		if got := info.ModTime().UTC(); got.Year() != want || got.Month() != time.February {
			t.Errorf("%s has the time %v", name, got)
		}
	}
}

func TestDropped(t *testing.T) {
	t.Parallel()
	onViews(t, checkDropped)
}

func checkDropped(t *testing.T, s *sandbox) {
	t.Helper()
	shell(t, s.root, project)
	must(t, os.Chmod(filepath.Join(s.root, "d"), 0o755|os.ModeSetgid))
	tx := s.view(`
python3 - <<'END'
import os, socket
socket.socket(socket.AF_UNIX).bind("sock")
os.mkfifo("fifo")
open("suid", "w").close(); os.chmod("suid", 0o6755)
os.chmod("f", 0o4755); os.chmod("run", 0o2755)
os.mkdir("d/inherits"); os.mkdir("sgid"); os.chmod("sgid", 0o2755)
open("attr", "w").write("x")
for name in ["attr", "sgid", "db"]:
    for attr in ["opaque", "whiteout", "redirect", "metacopy"]:
        os.setxattr(name, "user.overlay."+attr, b"y")
os.setxattr("attr", "user.mine", b"kept")
os.remove("link"); os.mkfifo("link")
END`)
	if os.Getuid() == 0 {
		// The view has the right to set a capability; a user's cannot, without capabilities.
		must(t, os.WriteFile(filepath.Join(tx.View.Upper, "cap"), []byte("x"), 0o755))
		must(t, exec.Command("setcap", "cap_net_raw+ep", filepath.Join(tx.View.Upper, "cap")).Run())
	}
	changes, dropped := s.scan(tx)
	want := []tree.Dropped{
		{Path: "attr", Reason: "attribute user.overlay.metacopy"},
		{Path: "attr", Reason: "attribute user.overlay.opaque"},
		{Path: "attr", Reason: "attribute user.overlay.redirect"},
		{Path: "attr", Reason: "attribute user.overlay.whiteout"},
		{Path: "cap", Reason: "attribute security.capability"},
		{Path: "db", Reason: "attribute user.overlay.metacopy"},
		{Path: "db", Reason: "attribute user.overlay.opaque"},
		{Path: "db", Reason: "attribute user.overlay.redirect"},
		{Path: "db", Reason: "attribute user.overlay.whiteout"},
		{Path: "f", Reason: "setuid bit"},
		{Path: "fifo", Reason: "FIFO"},
		{Path: "link", Reason: "FIFO"},
		{Path: "run", Reason: "setgid bit"},
		{Path: "sgid", Reason: "attribute user.overlay.metacopy"},
		{Path: "sgid", Reason: "attribute user.overlay.opaque"},
		{Path: "sgid", Reason: "attribute user.overlay.redirect"},
		{Path: "sgid", Reason: "attribute user.overlay.whiteout"},
		{Path: "sgid", Reason: "setgid bit"},
		{Path: "sock", Reason: "socket"},
		{Path: "suid", Reason: "setgid bit"},
		{Path: "suid", Reason: "setuid bit"},
	}
	if os.Getuid() != 0 {
		want = slices.DeleteFunc(want, func(d tree.Dropped) bool { return d.Path == "cap" })
	}
	slices.SortFunc(dropped, func(a, b tree.Dropped) int { return strings.Compare(a.Path+"\x00"+a.Reason, b.Path+"\x00"+b.Reason) })
	if diff := cmp.Diff(want, dropped); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if _, err := tx.Apply(t.Context(), changes); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]os.FileMode{
		"suid": 0o755, "f": 0o755, "run": 0o755, "sgid": 0o755 | os.ModeDir,
		"d/inherits": 0o755 | os.ModeDir | os.ModeSetgid,
	} {
		info, err := os.Lstat(filepath.Join(s.root, name))
		must(t, err)
		if info.Mode() != want {
			t.Errorf("%s has the mode %v, want %v", name, info.Mode(), want)
		}
	}
	for _, name := range []string{"sock", "fifo", "link"} {
		if _, err := os.Lstat(filepath.Join(s.root, name)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
	checkAttributes(t, s.root, "attr", []string{"user.mine"})
	checkAttributes(t, s.root, "sgid", nil)
	checkAttributes(t, s.root, "db", nil)
	if os.Getuid() == 0 {
		checkAttributes(t, s.root, "cap", nil)
	}
}

func checkAttributes(t *testing.T, root, name string, want []string) {
	t.Helper()
	buf := make([]byte, 4096)
	n, err := unix.Llistxattr(filepath.Join(root, name), buf)
	must(t, err)
	got := strings.FieldsFunc(string(buf[:n]), func(r rune) bool { return r == 0 })
	if !slices.Equal(got, want) {
		t.Errorf("%s has the attributes %q, want %q", name, got, want)
	}
}

// A command deletes only what it could see.
func TestMask(t *testing.T) {
	t.Parallel()
	const all = `.env d d/.env d/e d/e/y d/x hidden hidden/secret sub sub/s`
	for script, want := range map[string]string{
		`rm -r d`:                         `.env d d/.env hidden hidden/secret sub sub/s`,
		`rm -rf d sub * .e*`:              `.env d d/.env hidden hidden/secret`,
		`rm -r d; mkdir d; echo n >d/new`: `.env d d/.env d/new hidden hidden/secret sub sub/s`,
		`rm -r d; echo n >d`:              `.env d d/.env hidden hidden/secret sub sub/s`,
		`mkdir hidden; echo n >hidden/n`:  all,
		`echo mine >.env; echo x >d/.env`: all,
		`chmod 700 d; touch sub/t`:        all + ` sub/t`,
	} {
		t.Run(script, func(t *testing.T) {
			onViews(t, func(t *testing.T, s *sandbox) {
				shell(t, s.root, `mkdir -p d/e sub hidden; echo k >.env; echo k >d/.env; echo k >hidden/secret; echo x >d/x; echo y >d/e/y; echo s >sub/s`)
				s.mask = tempDir(t, "")
				must(t, os.Mkdir(filepath.Join(s.mask, "d"), 0o755))
				for _, name := range []string{".env", "d/.env", "hidden"} {
					must(t, unix.Mknod(filepath.Join(s.mask, name), unix.S_IFCHR, 0))
				}
				s.command(`test -e .env -o -e d/.env -o -e hidden && echo visible && exit 1; test -e d/x || exit 1; ` + script)
				var got []string
				must(t, filepath.WalkDir(s.root, func(path string, _ os.DirEntry, err error) error {
					if name, _ := filepath.Rel(s.root, path); name != "." {
						got = append(got, name)
					}
					return err
				}))
				slices.Sort(got)
				if diff := cmp.Diff(strings.Fields(want), got); diff != "" {
					t.Errorf("(-want +got)\n%s", diff)
				}
				data, err := exec.Command("cat", s.root+"/.env", s.root+"/d/.env", s.root+"/hidden/secret").Output()
				must(t, err)
				if string(data) != "k\nk\nk\n" {
					t.Errorf("the hidden files contain %q", data)
				}
			})
		})
	}
}

// A tree that exceeds a limit fails as a whole, and says which.
func TestLimits(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		script string
		limits tree.Limits
		want   string
	}{
		"entries": {`touch a b c d1 e`, tree.Limits{Entries: 4}, "4 entries"},
		"deleted": {`rm -r d`, tree.Limits{Entries: 3}, "3 entries"},
		"depth":   {`mkdir -p 1/2/3/4/5`, tree.Limits{Depth: 4}, "4 levels"},
		"lower":   {`rm -r deep`, tree.Limits{Depth: 2}, "2 levels"},
		"path":    {`echo >1234567890`, tree.Limits{Path: 9}, "9 bytes in a path"},
		"bytes":   {`head -c 1000 /dev/zero >n`, tree.Limits{Bytes: 999}, "999 bytes"},
		"sparse":  {`truncate -s 70G n`, tree.Limits{}, "68719476736 bytes"},
		"deep":    {`python3 -c 'import os` + "\n" + `for i in range(10000): os.mkdir("n"); os.chdir("n")'`, tree.Limits{}, "512 levels"},
		"long":    {`python3 -c 'import os` + "\n" + `for i in range(100): os.mkdir("n"*200); os.chdir("n"*200)'`, tree.Limits{}, "4000 bytes in a path"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSandbox(t)
			shell(t, s.root, project)
			tx := s.view(c.script)
			tx.View.Limits = c.limits
			_, _, err := tree.Scan(t.Context(), tx.View)
			var limit *tree.LimitError
			if !errors.As(err, &limit) || !strings.Contains(err.Error(), "more than "+c.want) {
				t.Errorf("the scan ends with %v", err)
			}
		})
	}
}

func TestScanEnds(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	tx := s.view(`touch a`)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := tree.Scan(ctx, tx.View); !errors.Is(err, context.Canceled) {
		t.Errorf("the scan ends with %v", err)
	}
}

// Links between new files stay links, however they are applied.
func TestHardLinks(t *testing.T) {
	t.Parallel()
	for _, copied := range []bool{false, true} {
		t.Run(fmt.Sprint(copied), func(t *testing.T) {
			t.Parallel()
			s := newSandbox(t)
			tx := s.view(`mkdir d; echo x >a; ln a b; ln a d/c`)
			tx.Copy = copied
			s.apply(tx)
			var st unix.Stat_t
			must(t, unix.Stat(filepath.Join(s.root, "d/c"), &st))
			if st.Nlink != 3 {
				t.Errorf("%d links", st.Nlink)
			}
		})
	}
}
