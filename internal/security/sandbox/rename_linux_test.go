package sandbox

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/pawl-dev/pawl/internal/security/sandbox/supervise"
	"github.com/pawl-dev/pawl/internal/test/wait"
)

// renameProgram is a program in a sandbox that renames; it returns its exit code.
func renameProgram(kind string, args []string) int {
	switch kind {
	case "flags": // flags, source, target
		err := unix.Renameat2(unix.AT_FDCWD, args[1], unix.AT_FDCWD, args[2], uint(number(args[0])))
		fmt.Println(unix.ErrnoName(errnoOf(err)))
	case "at": // two directories, source, target
		from, err := unix.Open(args[0], unix.O_PATH, 0)
		to, err2 := unix.Open(args[1], unix.O_RDONLY, 0)
		fmt.Println(unix.ErrnoName(errnoOf(errors.Join(err, err2, unix.Renameat(from, args[2], to, args[3])))))
	case "parallel":
		return renameParallel()
	case "race":
		return renameRace()
	}
	return 0
}

func errnoOf(err error) (errno unix.Errno) {
	_ = errors.As(err, &errno)
	return errno
}

// renameParallel renames with 8 goroutines at once, each its own directories.
func renameParallel() int {
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 20 {
				dir, to := fmt.Sprintf("d%d/%d", i, j), fmt.Sprintf("to/%d-%d", i, j)
				for _, pair := range [][2]string{{dir, to}, {to, to + "x"}, {to + "x/f", to + "x/g"}} {
					if err := os.Rename(pair[0], pair[1]); err != nil {
						fmt.Println(err)
					}
				}
			}
		})
	}
	wg.Wait()
	return 0
}

// renameRace renames one directory with 8 goroutines at once: one must win.
func renameRace() int {
	var wg sync.WaitGroup
	var mu sync.Mutex
	won := 0
	for i := range 8 {
		wg.Go(func() {
			err := os.Rename("dir", fmt.Sprintf("dir%d", i))
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				won++
			} else if !errors.Is(err, os.ErrNotExist) {
				fmt.Println(err)
			}
		})
	}
	wg.Wait()
	fmt.Println("won", won)
	return 0
}

// The files of most tests of renames.
const renameFiles = `
mkdir -p dir/sub/deep dir/empty other
echo a > dir/a; echo b > dir/sub/b; echo c > dir/sub/deep/c; chmod 640 dir/a; chmod 755 dir/sub/b
ln dir/a dir/sub/hard; ln -s ../a dir/sub/link; ln -P dir/sub/link dir/sub/link2; ln -s nowhere dir/dangling; mkfifo dir/fifo
touch -d 2001-02-03 dir/a dir/sub dir/empty
chmod 750 dir/empty; echo x > other/x; echo file > file`

func TestRenames(t *testing.T) { //nolint:paralleltest // it mounts
	if !inNamespace(t) {
		return
	}
	for _, test := range []struct{ name, fill, script, want string }{
		{"git mv", `git init -q; git config user.name n; git config user.email e; mkdir -p dir/sub; echo a > dir/a; echo b > dir/sub/b; git add .; git commit -qm 1`,
			`git mv dir dir2 && git commit -qm 2 && git show --name-status --format= && git status --short && ls`, "R100\tdir/a\tdir2/a\nR100\tdir/sub/b\tdir2/sub/b\ndir2\n"},
		{"mv keeps the files", renameFiles, `exec 3>>dir/a; mv dir dir2; echo more >&3; cat dir2/a; ls`, "a\nmore\ndir2\nfile\nother\n"},
		{"python", renameFiles, `python3 -c 'import os; os.rename("dir", "other/new"); os.rename("other/new/sub", "sub")'; ls . other`, ".:\nfile\nother\nsub\n\nother:\nnew\nx\n"},
		{"perl", renameFiles, `perl -e 'rename("dir", "new") or die $!'; cat new/sub/deep/c`, "c\n"},
		{"everything", renameFiles, `f() { (cd $1 && find . -printf '%P %y %m %l %n %T+ %s\n' | LC_ALL=C sort); }; f dir > /tmp/a; {rename} flags 0 dir new; f new > /tmp/b; diff /tmp/a /tmp/b && grep -c . /tmp/b; cat new/a new/sub/hard; test new/a -ef new/sub/hard && echo linked; ls`,
			"\n12\na\na\nlinked\nfile\nnew\nother\n"},
		{"attributes", renameFiles, `python3 -c 'import os; os.setxattr("dir/sub", "user.mine", b"yes"); os.setxattr("dir/a", "user.mine", b"file"); os.rename("dir", "new"); print(os.getxattr("new/sub", "user.mine"), os.getxattr("new/a", "user.mine"), os.listxattr("new"))'`, "b'yes' b'file' []\n"},
		{"read-only", `mkdir -p dir/ro/none; echo a > dir/ro/a; echo b > dir/ro/none/b; chmod 000 dir/ro/none; chmod 400 dir/ro/a; chmod 555 dir/ro dir`,
			`{rename} flags 0 dir new; stat -c '%a' new new/ro; chmod -R u+rwx new; stat -c %a new/ro/none; cat new/ro/a new/ro/none/b; ls`, "\n555\n555\n700\na\nb\nnew\n"},
		{"an empty target", renameFiles, `mkdir new other/y; {rename} flags 0 dir new; cat new/a; {rename} flags 0 new/ other/y/; cat other/y/a; ls`, "\na\n\na\nfile\nother\n"},
		{"an empty target below", renameFiles + "; mkdir new", `{rename} flags 0 dir new; cat new/a; ls`, "\na\nfile\nnew\nother\n"},
		{"errors", renameFiles, `{rename} flags 0 dir other; {rename} flags 0 dir dir/sub/new; {rename} flags 0 dir file; {rename} flags 1 dir other; {rename} flags 0 dir no/new
			{rename} flags 0 dir/. new; {rename} flags 0 nothing new; {rename} flags 0 dir /tmp/new; {rename} flags 0 dir /usr/new; {rename} flags 0 dir file/; {rename} flags 4 dir new
			ls . dir; {rename} flags 1 dir new; ls`,
			"ENOTEMPTY\nEINVAL\nENOTDIR\nEEXIST\nENOENT\nEBUSY\nENOENT\nEXDEV\nEXDEV\nENOTDIR\nEINVAL\n.:\ndir\nfile\nother\n\ndir:\na\ndangling\nempty\nfifo\nsub\n\nfile\nnew\nother\n"},
		{"itself", renameFiles, `{rename} flags 0 dir dir; {rename} flags 0 dir/ ./dir//; {rename} flags 0 dir/sub/../../dir new; ls`, "\n\n\nfile\nnew\nother\n"},
		{"exchange", renameFiles, `{rename} flags 2 dir other; cat other/a dir/x; {rename} flags 2 file other; cat file/a other; {rename} flags 2 file/sub file; {rename} flags 2 file no; ls`,
			"\na\nx\n\na\nfile\nEINVAL\nENOENT\ndir\nfile\nother\n"},
		{"relative to directories", renameFiles, `{rename} at dir other sub new; cat other/new/b; cd other/new && {rename} flags 0 deep ../deep && cat ../deep/c`, "\nb\n\nc\n"},
		{"through links", renameFiles, `ln -s dir l; {rename} flags 0 l/sub l/new; cat dir/new/b; {rename} flags 0 l l2; readlink l2; {rename} flags 0 l2/ l3; cd dir; {rename} flags 0 $PWD/new/deep $OLDPWD/deep; cat ../deep/c`, "\nb\n\ndir\nENOTDIR\n\nc\n"},
		{"magic links are the caller's", renameFiles, `{rename} flags 0 /proc/self/cwd/dir new; {rename} flags 0 file /proc/self/cwd/file2; cd dir; {rename} flags 0 sub new; ls ..; ls .`, "EXDEV\n\n\ndir\nfile2\nother\na\ndangling\nempty\nfifo\nnew\n"},
		{"orphans", renameFiles, `(setsid bash -c 'while [ $(ps -o ppid= $$) = '$BASHPID' ]; do :; done; {rename} flags 0 dir new > out; mv out done' &); until [ -e done ]; do :; done; cat done; ls`, "\ndone\nfile\nnew\nother\n"},
		{"a deep tree", `d=dir$(printf '/d%.0s' $(seq 300)); mkdir -p $d; echo deep > $d/f`, `{rename} flags 0 dir new; ls; find new -name f | xargs cat`, "\nnew\ndeep\n"},
		{"parallel", `mkdir to; for i in $(seq 0 7); do for j in $(seq 0 19); do mkdir -p d$i/$j; echo $i $j > d$i/$j/f; done; done`, `{rename} parallel; ls -d d*/* 2>/dev/null; cat to/*x/g | sort -u | wc -l; ls to | wc -l`, "160\n160\n"},
		{"a race", `mkdir -p dir/sub; seq 300 | split -l 1 -a 4 -d - dir/sub/`, `{rename} race; cat dir?/sub/* | wc -l`, "won 1\n300\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, with := range []bool{true, false} {
				p := newOverlayProject(t, test.fill)
				p.profile.renames = with
				o := p.run(p.profile, test.script)
				if !with {
					if o.output == test.want {
						t.Error("it works without the helper")
					}
					continue
				}
				if diff := cmp.Diff(test.want, o.output); diff != "" {
					t.Error(diff)
				}
				if left, _ := filepath.Glob(filepath.Join(p.ws, supervise.TempPrefix+"*")); len(left) > 0 {
					t.Errorf("%q is left", left)
				}
			}
		})
	}
}

// TestRenameInterrupted: what interrupts a rename leaves the tree as it was, and others go on.
func TestRenameInterrupted(t *testing.T) { //nolint:paralleltest // it mounts
	if !inNamespace(t) {
		return
	}
	const many = `mkdir dir other; seq 1000 | split -l 1 -a 4 -d - dir/; echo x > other/x`
	for _, test := range []struct{ name, script, want string }{
		{"the caller is killed", `{rename} flags 0 dir new & until ls -d .pawl-rename-* >/dev/null 2>&1; do :; done; kill -9 $!; wait $! 2>/dev/null; {rename} flags 0 other other2
			until ! ls -d .pawl-rename-* >/dev/null 2>&1; do :; done; ls; ls dir | wc -l; {rename} flags 0 dir new; ls new | wc -l`,
			"\ndir\nother2\n1000\n\n1000\n"},
		{"signals", `perl -MTime::HiRes=ualarm -e '$SIG{ALRM} = sub { $n++ }; ualarm(500, 500); rename("dir", "new") or print "$!\n"; ualarm(0); print $n > 0 ? "heard\n" : "not heard\n"'; ls new | wc -l; ls`, "heard\n1000\nnew\nother\n"},
		{"a working directory in it", `(cd dir; {rename} flags 0 ../dir ../new); ls; ls new | wc -l`, "\nnew\nother\n1000\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := newOverlayProject(t, many)
			if diff := cmp.Diff(test.want, p.run(p.profile, test.script).output); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestRenameCanceled: a sandbox that is killed leaves no process, and no file is lost.
func TestRenameCanceled(t *testing.T) { //nolint:paralleltest // it mounts
	if !inNamespace(t) {
		return
	}
	p := newOverlayProject(t, `mkdir dir; seq 1000 | split -l 1 -a 4 -d - dir/`)
	wrapped, err := p.backend.Wrap([]string{filepath.Join(p.root, "program"), "rename", "flags", "0", "dir", "new"}, p.profile)
	if err != nil {
		t.Fatal(err)
	}
	defer wrapped.Close()
	cmd := exec.Command(wrapped.Args[0], wrapped.Args[1:]...)
	cmd.Env, cmd.ExtraFiles = wrapped.Env, wrapped.Files
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	wait.Until(t, "the copy is made", func() bool {
		found, _ := filepath.Glob(filepath.Join(p.ws, supervise.TempPrefix+"*"))
		return len(found) > 0
	})
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	if n := len(names(filepath.Join(p.ws, "dir"))); n != 1000 {
		t.Errorf("%d files", n)
	}
	// The clean-up fails if a process uses the project.
}

// TestRenameWriters: files that others create and replace in a tree while it is renamed
// come along.
func TestRenameWriters(t *testing.T) { //nolint:paralleltest // it mounts
	if !inNamespace(t) {
		return
	}
	p := newOverlayProject(t, `mkdir -p dir/sub; seq 500 | split -l 1 -a 4 -d - dir/sub/`)
	o := p.run(p.profile, `python3 -c '
import os, threading
done, wrote = False, []
def write():
    d = os.open("dir/sub", os.O_PATH)
    n = 0
    while not done:
        try:
            f = os.open("t", os.O_CREAT | os.O_WRONLY, dir_fd=d); os.write(f, b"new"); os.close(f)
            os.rename("t", "%04d" % (n % 500), src_dir_fd=d, dst_dir_fd=d)
            f = os.open("extra%d" % n, os.O_CREAT | os.O_WRONLY, dir_fd=d); os.close(f)
        except FileNotFoundError:
            if n: break
            continue
        wrote.append(("%04d" % (n % 500), "extra%d" % n)); n += 1
t = threading.Thread(target=write); t.start()
while len(wrote) < 5 and t.is_alive(): pass
try: os.rename("dir", "new")
finally: done = True; t.join()
found = set(os.listdir("new/sub")) | (set(os.listdir("dir/sub")) if os.path.exists("dir") else set())
lost = [x for a, x in wrote if x not in found]
old = [a for a, x in wrote if open("new/sub/" + a).read() != "new"]
print("lost", lost, "old", old, len([x for x in found if x.isdigit()]), os.path.exists("dir"))
'`)
	if diff := cmp.Diff("lost [] old [] 500 False\n", o.output); diff != "" {
		t.Error(diff)
	}
}

// TestRenameExit: the exit code is the command's, also with the forwarder in one helper.
func TestRenameExit(t *testing.T) { //nolint:paralleltest // its processes share HOME and what Release removes
	if !inNamespace(t) {
		return
	}
	p := newOverlayProject(t, renameFiles)
	socket := filepath.Join(p.root, "proxy.sock")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		_ = http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprintln(w, r.URL) }))
	}()
	for _, p.profile.ProxySocket = range []string{"", socket} {
		for script, code := range map[string]int{`exit 0`: 0, `exit 37`: 37, `exit 255`: 255, `kill -TERM $$`: 143, `kill -KILL $$`: 137, `sleep 1000 & exit 3`: 3, `(exit 5) & exec sh -c "exit 4"`: 4} {
			if o := p.run(p.profile, script); o.code != code || o.output != "" {
				t.Errorf("%s: exit %d: %s", script, o.code, o.output)
			}
		}
		if o := p.runArgs(p.profile, []string{"no-such-program"}); o.code != 127 || !strings.Contains(o.output, "no-such-program") {
			t.Errorf("exit %d: %s", o.code, o.output)
		}
		if o := p.runArgs(p.profile, []string{filepath.Join(p.ws, "file")}); o.code != 126 || !strings.Contains(o.output, "permission denied") {
			t.Errorf("exit %d: %s", o.code, o.output)
		}
	}
	o := p.run(p.profile, `curl -s http://example.test/a; {rename} flags 0 dir new; ls; env | grep PAWL_BOX`)
	if diff := cmp.Diff("http://example.test/a\n\nfile\nnew\nother\n", o.output); diff != "" {
		t.Error(diff)
	}
}
