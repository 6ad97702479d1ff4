package protect

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestValidRef(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"refs/heads/main": true, "refs/heads/a/b.c": true, "refs/stash": true, "refs/remotes/origin/HEAD": true, "refs/heads/ü": true, "refs/notes/x": true, "refs/heads/@x": true,
		"": false, "refs": false, "HEAD": false, "config": false, "refs/": false, "refs//x": false, "refs/heads/../x": false, "refs/heads/.x": false, "refs/heads/x.lock": false, "refs/heads/x.": false,
		"refs/heads/-x": false, "refs/heads/a b": false, "refs/heads/a~1": false, "refs/heads/a^": false, "refs/heads/a:b": false, "refs/heads/a?": false, "refs/heads/*": false, "refs/heads/[": false,
		`refs/heads/a\b`: false, "refs/heads/a\x01": false, "refs/heads/a\x7f": false, "refs/heads/@": false, "refs/heads/a@{1}": false, "/refs/heads/x": false,
		"refs/replace/x": false, "refs/Replace/x": false, "refs/replace": false,
	} {
		if validRef(name) != want {
			t.Errorf("%q: %v", name, !want)
		}
	}
}

func TestState(t *testing.T) {
	t.Parallel()
	id := strings.Repeat("0a", 20)
	for _, tt := range []struct {
		path, data string
		ok         bool
	}{
		{"HEAD", "ref: refs/heads/main\n", true}, {"HEAD", id + "\n", true}, {"HEAD", id, true},
		{"HEAD", "ref: refs/../config\n", false}, {"HEAD", "ref: config\n", false}, {"HEAD", id + "\nx\n", false}, {"HEAD", "", false}, {"HEAD", strings.Repeat("0a", 32), false}, {"HEAD", strings.ToUpper(id), false},
		{"refs/heads/main", id + "\n", true}, {"refs/heads/main", "ref: refs/heads/x\n", true}, {"refs/heads/main", "x", false},
		{"MERGE_HEAD", id + "\n" + id + "\n", true}, {"MERGE_HEAD", "x\n", false}, {"BISECT_HEAD", id, true}, {"OTHER_HEAD", id, false},
		{"shallow", id + "\n", true}, {"shallow", "--x\n", false},
		{"packed-refs", "# pack-refs with: peeled fully-peeled sorted \n" + id + " refs/heads/main\n" + id + " refs/tags/x\n^" + id + "\n", true},
		{"packed-refs", id + " refs/replace/x\n", false}, {"packed-refs", "0a refs/heads/x\n", false}, {"packed-refs", id + " config\n", false}, {"packed-refs", "\n", false}, {"packed-refs", "^0a\n", false},
		{"rebase-merge/git-rebase-todo", "pick 1 x\n# exec is a comment\n\nlabel onto\nreset onto\nmerge -C 1 x # y\nupdate-ref refs/heads/x\nbreak\nnoop\n", true},
		{"rebase-merge/git-rebase-todo", "pick 1 x\nexec make\n", false}, {"rebase-merge/git-rebase-todo", "x make\n", false}, {"rebase-merge/git-rebase-todo", "  exec\tmake\n", false}, {"rebase-merge/git-rebase-todo", "run make\n", false},
		{"rebase-merge/git-rebase-todo.backup", "x make\n", false}, {"rebase-merge/done", "x make\n", false}, {"sequencer/todo", "exec make\n", false}, {"sequencer/todo", "revert 1 x\n", true},
		{"rebase-merge/author-script", "GIT_AUTHOR_NAME='it'\\''s'\nGIT_AUTHOR_EMAIL='a@b'\nGIT_AUTHOR_DATE='@1 +0000'\n", true}, {"rebase-merge/author-script", "GIT_AUTHOR_NAME=$(x)\n", false}, {"rebase-merge/author-script", "PATH='x'\n", false},
		{"rebase-merge/strategy", "ort\n", true}, {"rebase-merge/strategy", "../x\n", false}, {"rebase-merge/gpg_sign_opt", "-SABCD\n", true}, {"rebase-merge/gpg_sign_opt", "--exec=x\n", false},
		{"rebase-apply/apply-opt", " '-p1' '--whitespace=fix'\n", true}, {"rebase-apply/apply-opt", " '--directory=../x'\n", false},
		{"sequencer/opts", "[options]\n\tedit = true\n\tstrategy = ort\n", true}, {"sequencer/opts", "[options]\n\tstrategy = x\n", false}, {"sequencer/opts", "[options\n", false},
		{"info/exclude", "x", true}, {"info/sparse-checkout", "x", true}, {"info/attributes", "x", false}, {"info/grafts", "x", false}, {"info/Attributes", "x", false},
		{"logs/refs/heads/main", "x", true}, {"logs/HEAD", "x", true}, {"logs/x", "x", false}, {"COMMIT_EDITMSG", "x", true}, {"MERGE_MSG", "x", true}, {"description", "x", true}, {"gc.log", "x", true},
		{"config.worktree", "x", false}, {"Config", "x", false}, {"hooks/x", "x", false}, {"remotes/x", "x", false}, {"branches/x", "x", false}, {"reftable/x", "x", false}, {"fsmonitor--daemon.ipc", "x", false}, {"head", "x", false},
	} {
		first, below, _ := strings.Cut(tt.path, "/")
		rule, ok := stateRule(first, below, tt.path)
		reason := ""
		if ok && rule.check != nil {
			reason = rule.check([]byte(tt.data), sha1Hash)
		}
		if (ok && reason == "") != tt.ok {
			t.Errorf("%s with %q: known %v, %q", tt.path, tt.data, ok, reason)
		}
		if ok && rule.check != nil && rule.limit == 0 {
			t.Errorf("%s has no limit", tt.path)
		}
	}
}

// TestIndex: indexes of each version are accepted, and no shorter ones.
func TestIndex(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		script string
		hash   hash
	}{
		"2":      {`git init -q; echo x > a; mkdir d; echo x > d/b; git add .`, sha1Hash},
		"3":      {`git init -q; echo x > a; echo y > b; git add -N a; git add b`, sha1Hash},
		"4":      {`git init -q; mkdir -p d/e; for i in 1 2 3; do echo x > d/e/file$i; done; git add .; git update-index --index-version 4`, sha1Hash},
		"sha256": {`git init -q --object-format=sha256; mkdir d; echo x > d/b; git add .`, sha256Hash},
		"trees":  {`git init -q; mkdir d; echo x > d/b; git add .; git write-tree; git update-index --untracked-cache`, sha1Hash},
	} {
		dir := t.TempDir()
		script(t, dir, tt.script)
		data, err := os.ReadFile(filepath.Join(dir, ".git/index"))
		if err != nil {
			t.Fatal(err)
		}
		if reason := checkIndex(data, tt.hash); reason != "" {
			t.Errorf("version %s: %s", name, reason)
		}
		refused := 0
		for i := range data {
			if checkIndex(data[:i], tt.hash) != "" {
				refused++
			}
		}
		if refused < len(data)-2 { // it may end behind the entries or an extension
			t.Errorf("version %s: %d of %d shorter indexes are refused", name, refused, len(data))
		}
		unknown := slices.Concat(data[:len(data)-tt.hash.size], []byte("evil\x00\x00\x00\x00"), make([]byte, tt.hash.size))
		if checkIndex(unknown, tt.hash) == "" {
			t.Errorf("version %s: an unknown extension is accepted", name)
		}
	}
	for path, want := range map[string]bool{
		"a": true, "a/b": true, ".gitignore": true, ".github/x": true, "git/x": true,
		"": false, "/a": false, "a//b": false, "a/": false, "./a": false, "a/../b": false, "..": false, ".git/x": false, "a/.git": false, ".GIT/x": false, ".g\u200cit/x": false, "a\\.git\\x": false, "git~1/x": false,
	} {
		if validIndexPath(path, 0o100644) != want {
			t.Errorf("%q: %v", path, !want)
		}
	}
}
