package worktree

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
)

// baseFiles are the files of the base commit.
var baseFiles = map[string]string{
	"f": "one\n", "dir/g": "g\n", "run*": "#!/bin/sh\n", "link@": "f", ".gitignore": "*.log\nbuild/\n.env\n", "build/kept": "kept\n",
}

// collectTests are changes of workers, and the results of collecting them.
var collectTests = []struct {
	name, do string
	changes  string // comma-separated state and path
	left     string // comma-separated path: reason
	files    map[string]string
}{
	{name: "nothing"},
	{name: "touched", do: "touch f; git status; git commit -q --allow-empty -m x"},
	{name: "an edit", do: "echo two >f", changes: "M f", files: map[string]string{"f": "100644 two"}},
	{name: "an edit that is committed", do: "echo two >f; git commit -qam mine", changes: "M f", files: map[string]string{"f": "100644 two"}},
	{name: "new, deleted, moved", do: "mkdir new; echo n >new/n; rm f; mv dir/g dir/h", changes: "D dir/g,A dir/h,D f,A new/n", files: map[string]string{"new/n": "100644 n", "dir/h": "100644 g"}},
	{name: "modes", do: "chmod +x f; chmod -x run", changes: "M f,M run", files: map[string]string{"f": "100755 one", "run": "100644 #!/bin/sh"}},
	{name: "types", do: "rm f link; ln -s dir f; echo file >link; rm -r dir; echo file >dir; rm run; mkdir run; echo x >run/x", changes: "A dir,D dir/g,T f,T link,D run,A run/x",
		files: map[string]string{"f": "120000 dir", "dir": "100644 file", "run/x": "100644 x"}},
	{name: "the index lies", do: "echo two >f; git update-index --assume-unchanged f; git update-index --skip-worktree dir/g; rm dir/g", changes: "D dir/g,M f"},
	{name: "all is deleted", do: "rm -rf -- * .gitignore .git", changes: "D .gitignore,D build/kept,D dir/g,D f,D link,D run"},
	{name: "odd names", do: `touch -- '-x' 'a
b' ' ' 'HEAD' 'main' 'work'; mkdir -p refs/heads; echo x >refs/heads/main`, changes: "A  ,A -x,A HEAD,A a\nb,A main,A refs/heads/main,A work"},
	{name: "empty folders", do: "mkdir -p x/y/z"},

	{name: "ignored", do: "echo x >x.log; mkdir build/x; echo x >build/x/y; echo KEY >.env; echo x >dir/x.log; echo x >x.private"},
	{name: "files of the commit in an ignored folder", do: "echo changed >build/kept; echo x >build/other", changes: "M build/kept"},
	{name: "rules that take less", do: "echo '' >.gitignore; echo KEY >.env; echo n >n", changes: "M .gitignore,A n", left: ".env: " + outBase + ",build: " + outBase},
	{name: "rules of a folder that take less", do: "echo '!x.log' >dir/.gitignore; echo x >dir/x.log", changes: "A dir/.gitignore", left: "dir/x.log: " + outBase},
	{name: "rules that hide", do: "echo '*' >.gitignore; echo two >f; echo n >n", changes: "M .gitignore,M f", left: "dir: " + outOwn + ",n: " + outOwn},
	{name: "rules in the workplace's git", do: "echo '*' >.git/info/exclude || { mkdir .git/info; echo '*' >.git/info/exclude; }; git config core.excludesFile f; echo n >n", changes: "A n"},
	{name: "rules by a link", do: "mkdir d; ln -s ../f d/.gitignore; echo n >d/one", changes: "A d/.gitignore,A d/one"},

	{name: ".git is a link elsewhere", do: "rm -rf .git; ln -s $ROOT/repo/.git .git; echo two >f", changes: "M f"},
	{name: ".git is a file", do: "rm -rf .git; echo gitdir: $ROOT/repo/.git >.git; echo two >f", changes: "M f"},
	{name: "another worktree", do: "git config core.worktree $ROOT/repo; echo two >f", changes: "M f"},
	{name: "hooks, filters, a monitor", do: `mkdir -p .git/hooks; for h in pre-commit post-index-change reference-transaction; do ln -s $EVIL .git/hooks/$h; done
echo '* filter=evil' >.gitattributes; for k in filter.evil.clean filter.evil.process core.fsmonitor; do git config $k $EVIL; done; echo two >f`, changes: "A .gitattributes,M f"},
	{name: "other objects", do: "echo $ROOT/nothing >.git/objects/info/alternates; echo broken >.git/HEAD; echo broken >.git/index; echo two >f", changes: "M f"},
	{name: "line endings", do: `echo '* text eol=lf' >.gitattributes; printf 'a\r\nb\n' >crlf`, changes: "A .gitattributes,A crlf", files: map[string]string{"crlf": "100644 a\r\nb"}},

	{name: "a link to a folder outside", do: "ln -s $ROOT/outside out", changes: "A out"},
	{name: "a folder becomes a link outside", do: "rm -r dir; ln -s $ROOT/outside dir", changes: "A dir,D dir/g"},
	{name: "a file becomes a link outside", do: "rm f; ln -s $ROOT/outside/g f", changes: "T f"},
	{name: "a link that leads nowhere, and to itself", do: "ln -s nowhere a; ln -s loop loop", changes: "A a,A loop"},
	{name: "pipes and sockets", do: "mkfifo pipe; rm f; mkfifo f; mkfifo x.log", changes: "D f", left: "f: " + outSpecial + ",pipe: " + outSpecial},

	{name: "a repository in it", do: "git init -q inner; echo x >inner/x; ln -s $EVIL inner/.git/hooks/x || true; cd dir; git init -q; echo two >g", changes: "M dir/g,A inner/x", left: "dir/.git: " + outNested + ",inner/.git: " + outNested},
	{name: "a submodule", do: "git -c protocol.file.allow=always submodule --quiet add $ROOT/repo sub", left: "sub/.git: " + outNested,
		changes: "A .gitmodules,A sub/.gitignore,A sub/dir/g,A sub/f,A sub/link,A sub/run"},
	{name: "one that is bare", do: "git init -q --bare bare.git; rm -rf bare.git/hooks bare.git/info bare.git/description", changes: "A bare.git/HEAD,A bare.git/config"},
}

func TestCollect(t *testing.T) {
	w := newEnv(t, baseFiles)
	w.write(filepath.Join(w.root, "outside/g"), "secret\n")
	w.write(filepath.Join(w.root, "outside/deep/h"), "secret\n")
	w.write(filepath.Join(w.dir, "f"), "the user's, not committed\n")
	w.write(filepath.Join(w.dir, ".git/info/exclude"), "*.private\n")
	before, base := w.state(), w.git("rev-parse", "main")
	for i, tt := range collectTests {
		t.Run(tt.name, func(t *testing.T) {
			w.t = t
			name := "w" + strconv.Itoa(i)
			dir := w.make(name)
			w.sh(dir, tt.do)
			if err := os.RemoveAll(w.seen); err != nil { // created by the worker's own git
				t.Fatal(err)
			}
			t.Setenv("GIT_DIR", filepath.Join(dir, ".git"))
			t.Setenv("GIT_WORK_TREE", dir)
			h := w.collect(name, base)
			if err := errors.Join(os.Unsetenv("GIT_DIR"), os.Unsetenv("GIT_WORK_TREE")); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Lstat(w.seen); err == nil {
				t.Error("a program of the workplace's was run")
			}
			checkCollect(t, w, h, base, tt.changes, tt.left, tt.files)
		})
	}
	w.t = t
	if diff := cmp.Diff(before, w.state()); diff != "" {
		t.Errorf("the user's repository has changed:\n%s", diff)
	}
	for _, name := range w.left() {
		if strings.HasPrefix(name, ".") {
			t.Errorf("%s is left", name)
		}
	}
}

func checkCollect(t *testing.T, w *env, h Collected, base, changes, left string, files map[string]string) {
	t.Helper()
	var got, out []string
	for _, c := range h.Changes {
		got = append(got, c.State+" "+c.Path)
	}
	for _, l := range h.Left {
		out = append(out, l.Path+": "+l.Why)
	}
	if diff := cmp.Diff(changes, strings.Join(got, ",")); diff != "" {
		t.Errorf("changes: %s", diff)
	}
	if diff := cmp.Diff(left, strings.Join(out, ",")); diff != "" {
		t.Errorf("left out: %s", diff)
	}
	if (h.Commit == "") != (changes == "") {
		t.Fatalf("the commit is %q", h.Commit)
	}
	if h.Commit == "" {
		return
	}
	// Git reports the same changes.
	var reported []string
	words := strings.Split(strings.TrimSuffix(w.git("diff-tree", "-r", "-z", "--no-renames", "--name-status", base, h.Commit), "\x00"), "\x00")
	for i := 0; i+1 < len(words); i += 2 {
		reported = append(reported, words[i]+" "+words[i+1])
	}
	if diff := cmp.Diff(got, reported); diff != "" {
		t.Errorf("git sees other changes: %s", diff)
	}
	all := w.files(h.Commit)
	for name, want := range files {
		if all[name] != want {
			t.Errorf("%s is %q", name, all[name])
		}
	}
	for name, text := range all {
		if strings.Contains(text, "secret") {
			t.Errorf("%s brings out %q", name, text)
		}
	}
	if got := w.git("log", "-1", "--format=%P|%an|%ae|%cn|%at|%B", h.Commit); !strings.HasPrefix(got, base+"|pawl|pawl@localhost|pawl|1767323045|do w") || !strings.Contains(got, "\nPawl-Task: w") {
		t.Errorf("the commit says %s", got)
	}
}

// refusals are changes that a worker has to fix.
var refusals = []struct {
	name, do string
	want     error
	says     string
}{
	{"a large file", "head -c 2000 /dev/zero >large", pawl.ErrInvalid, `"large" is larger than 1000 bytes`},
	{"a file that is made large", "head -c 2000 /dev/zero >f", pawl.ErrInvalid, `"f" is larger than 1000 bytes`},
	{"a large file with holes", "truncate -s 1T holes", pawl.ErrInvalid, `have more than 10000 bytes`},
	{"many files", "mkdir m; cd m; seq 300 | xargs touch", pawl.ErrInvalid, "more than 300 files"},
	{"many bytes", "mkdir m; cd m; for i in 1 2 3 4 5 6 7 8 9 10 11; do head -c 999 /dev/zero >$i; done", pawl.ErrInvalid, "have more than 10000 bytes"},
	{"deep folders", "mkdir -p $(printf 'd/%.0s' $(seq 210))", pawl.ErrInvalid, "more than 200 directories deep"},
	{".GIT", "mkdir .GIT; echo x >.GIT/config", pawl.ErrInvalid, "is reserved for git"},
	{"git~1", "echo x >dir/git~1", pawl.ErrInvalid, "is reserved for git"},
	{".git with a blank", "echo x >'.git '", pawl.ErrInvalid, "is reserved for git"},
	{".git with a letter that is not seen", "echo x >'.g\u200cit'", pawl.ErrInvalid, "is reserved for git"},
	{"a stream of .git", "echo x >'.git::$INDEX_ALLOCATION'", pawl.ErrInvalid, "is reserved for git"},
	{".git behind a backslash", `echo x >'a\.git\config'`, pawl.ErrInvalid, "is reserved for git"},
	{"case", "echo x >F", pawl.ErrInvalid, `"F" and "f" differ only in case`},
	{"case of a folder", "ln -s .git/hooks DIR", pawl.ErrInvalid, `"DIR" and "dir" differ only in case`},
	{".gitmodules is a link", "ln -s f .gitmodules", pawl.ErrInvalid, "make it a file"},
	{"another name of a file outside", "ln $ROOT/outside/g mine", pawl.ErrDenied, "replace it with a copy"},
	{"no workplace", "rm -rf ../$(basename $PWD)", os.ErrNotExist, "the worktree was not found"},
	{"a link to another one", "d=$PWD; cd ..; rm -rf $d; ln -s $ROOT/repo $d", syscall.ENOTDIR, "the worktree was not found"},
}

func TestCollectDenies(t *testing.T) {
	t.Parallel()
	w := newEnv(t, map[string]string{"f": "one\n", "dir/g": "g\n", "huge": strings.Repeat("x", 1500), "Twin": "a", "twin": "b"})
	w.write(filepath.Join(w.root, "outside/g"), "secret\n")
	w.trees.MaxFile, w.trees.MaxFiles, w.trees.MaxBytes = 1000, 300, 10_000
	before := w.state()
	for i, tt := range refusals {
		t.Run(tt.name, func(t *testing.T) {
			w.t = t
			name := "w" + strconv.Itoa(i)
			w.sh(w.make(name), tt.do)
			h, err := w.trees.Collect(t.Context(), name, "main", label("x"))
			if !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("%+v, %v", h, err)
			}
		})
	}
	w.t = t
	w.make("fine")
	if h := w.collect("fine", "main"); len(h.Changes) > 0 {
		t.Errorf("what the commit has is refused: %+v", h)
	}
	if _, err := w.trees.Collect(t.Context(), "fine", "main", Label{}); !errors.Is(err, pawl.ErrInvalid) {
		t.Errorf("without a label: %v", err)
	}
	if diff := cmp.Diff(before, w.state()); diff != "" {
		t.Errorf("the user's repository has changed:\n%s", diff)
	}
}
