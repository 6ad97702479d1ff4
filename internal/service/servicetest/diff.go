package servicetest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pawl-dev/pawl"
)

func (b *testEnv) diff(id pawl.SessionID, o pawl.DiffOptions) pawl.Diff {
	b.Helper()
	d, err := b.Diff(b.Context(), id, o)
	b.ok(err)
	return d
}

// files is a diff without its patches.
var files = cmpopts.IgnoreFields(pawl.FileDiff{}, "Patch")

func testDiff(b *testEnv) {
	id, _ := b.twoTurns()
	one := pawl.Diff{Added: 2, Deleted: 1, Files: []pawl.FileDiff{{Path: "a", Kind: "modify", Added: 1, Deleted: 1}, {Path: "b", Kind: "create", Added: 1}}}
	got := b.diff(id, pawl.DiffOptions{Turn: 1})
	check(b, one, got, files)
	check(b, "-first\n\\ No newline at end of file\n+second\n\\ No newline at end of file\n", patchLines(got.Files[0]))
	check(b, pawl.Diff{Added: 1, Deleted: 1, Files: []pawl.FileDiff{{Path: "a", Kind: "delete", Deleted: 1}, {Path: "c", Kind: "create", Added: 1}}},
		b.diff(id, pawl.DiffOptions{Turn: 2}), files)
	whole := []pawl.FileDiff{{Path: "a", Kind: "delete", Deleted: 1}, {Path: "b", Kind: "create", Added: 1}, {Path: "c", Kind: "create", Added: 1}}
	got = b.diff(id, pawl.DiffOptions{})
	check(b, whole, got.Files, files)
	check(b, "-first\n\\ No newline at end of file\n", patchLines(got.Files[0])) // as before the session

	b.put("b", "somebody else's") // now counts
	got = b.diff(id, pawl.DiffOptions{Path: "b"})
	check(b, whole[1:2], got.Files, files)
	check(b, "+somebody else's\n\\ No newline at end of file\n", patchLines(got.Files[0]))
	check(b, one.Files, b.diff(id, pawl.DiffOptions{Turn: 1}).Files, files)

	b.undo(id, pawl.Undo{})
	check(b, []pawl.FileDiff{{Path: "a", Kind: "modify", Added: 1, Deleted: 1}, whole[1]}, b.diff(id, pawl.DiffOptions{}).Files, files)
}

// patchLines returns a patch without what is before its first hunk.
func patchLines(f pawl.FileDiff) string {
	_, hunks, _ := strings.Cut(f.Patch, "\n@@")
	_, lines, _ := strings.Cut(hunks, "\n")
	return lines
}

// What a command has changed so far counts. Nothing has to wait for its end.
func testDiffOfARunningTurn(b *testEnv) {
	id := b.create()
	b.send(id, prompt("go", b.script(
		`{"calls":[{"name":"write","input":{"path":"a","content":"1\n"}},{"name":"bash","input":{"command":"echo 2 > b; echo waiting; until [ -e go ]; do sleep 0.01; done"}}]}`, `{"text":"Ok."}`), pawl.DeliverNow))
	b.until(id, 0, func(e pawl.Event) bool { return is[pawl.Progress](e) })
	want := []pawl.FileDiff{{Path: "a", Kind: "create", Added: 1}, {Path: "b", Kind: "create", Added: 1}}
	check(b, want, b.diff(id, pawl.DiffOptions{}).Files, files)
	check(b, want, b.diff(id, pawl.DiffOptions{Turn: 1}).Files, files)
	b.release("go")
	b.idle(id)
}

func testDiffOfSubagents(b *testEnv) {
	b.put("a", "first\n")
	id := b.create()
	b.send(id, prompt("go", b.script(
		reply(bash("echo parent > p"), task("general", "x", "")), `{"text":"Ok."}`,
		`{"agent":"general",`+reply(bash("echo child > a"), write("b", "made\n"))[1:], `{"agent":"general","text":"Done."}`,
		`{"text":"Again."}`,
	), pawl.DeliverNow))
	b.idle(id)
	b.send(id, prompt("again", "", pawl.DeliverNow))
	b.idle(id)
	sub := []pawl.FileDiff{{Path: "a", Kind: "modify", Added: 1, Deleted: 1}, {Path: "b", Kind: "create", Added: 1}}
	all := []pawl.FileDiff{sub[0], sub[1], {Path: "p", Kind: "create", Added: 1}}
	check(b, all, b.diff(id, pawl.DiffOptions{Turn: 1}).Files, files)
	check(b, all, b.diff(id, pawl.DiffOptions{}).Files, files)
	check(b, 0, len(b.diff(id, pawl.DiffOptions{Turn: 2}).Files))
	check(b, sub, b.diff(b.subagents(id)[0].ID, pawl.DiffOptions{}).Files, files)
}

func testDiffOfTheWorkingTree(b *testEnv) {
	id := b.create()
	_, err := b.Diff(b.Context(), id, pawl.DiffOptions{WorkingTree: true})
	b.code(pawl.CodeNotFound, err)
	for name, text := range map[string]string{"a": "1\n2\n", "gone": "x\n", "old": "1\n2\n3\n4\n5\n", ".gitignore": "ignored\n", "sub/.env": "KEY=1\n"} {
		b.place(name, text)
	}
	git := func(args ...string) {
		b.Helper()
		cmd := exec.CommandContext(b.Context(), "git", append([]string{"-c", "user.name=n", "-c", "user.email=e"}, args...)...)
		cmd.Dir = b.dir
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	git("init", "-q")
	check(b, 5, len(b.diff(id, pawl.DiffOptions{WorkingTree: true}).Files)) // without a commit
	git("add", "-A")
	git("commit", "-qm", "first")
	git("mv", "old", "new")
	b.place("a", "1\n3\n")
	b.place("ignored", "x")
	b.place("more/b", "new")
	b.place("sub/.env", "KEY=2\n")
	b.place("bin", "\x00\x01")
	b.ok(os.Remove(filepath.Join(b.dir, "gone")))
	b.ok(os.Symlink("/etc/hostname", filepath.Join(b.dir, "link")))
	want := []pawl.FileDiff{
		{Path: "a", Kind: "modify", Added: 1, Deleted: 1}, {Path: "bin", Kind: "create", Binary: true}, {Path: "gone", Kind: "delete", Deleted: 1},
		{Path: "link", Kind: "create"}, {Path: "more/b", Kind: "create", Added: 1}, {Path: "new", OldPath: "old", Kind: "rename"}, {Path: "sub/.env", Kind: "modify"},
	}
	got := b.diff(id, pawl.DiffOptions{WorkingTree: true})
	check(b, pawl.Diff{Files: want, Added: 2, Deleted: 2}, got, files, cmpopts.IgnoreFields(pawl.FileDiff{}, "Hidden"))
	check(b, "+new\n\\ No newline at end of file\n", patchLines(got.Files[4]))
	for _, f := range got.Files {
		hidden := f.Path == "link" || f.Path == "sub/.env"
		if hidden != (f.Hidden != "") || hidden != (f.Patch == "") {
			b.Errorf("%s is hidden: %q, %q", f.Path, f.Hidden, f.Patch)
		}
	}
	sub, err := b.Create(b.Context(), pawl.NewSession{Dir: filepath.Join(b.dir, "more")})
	b.ok(err)
	check(b, []pawl.FileDiff{{Path: "b", Kind: "create", Added: 1}}, b.diff(sub.ID, pawl.DiffOptions{WorkingTree: true}).Files, files)
	check(b, want[:1], b.diff(id, pawl.DiffOptions{WorkingTree: true, Path: "a"}).Files, files)
}

func testDiffRefuses(b *testEnv) {
	id := b.create()
	check(b, pawl.Diff{Files: []pawl.FileDiff{}}, b.diff(id, pawl.DiffOptions{}))
	for code, list := range map[pawl.Code][]pawl.DiffOptions{
		pawl.CodeNotFound: {{Turn: 1}},
		pawl.CodeInvalid:  {{Turn: -1}, {Turn: 1, WorkingTree: true}, {Path: "../x"}, {Path: "/etc/passwd"}},
	} {
		for _, o := range list {
			_, err := b.Diff(b.Context(), id, o)
			b.code(code, err)
		}
	}
	_, err := b.Diff(b.Context(), "01JD0000000000000000000000", pawl.DiffOptions{})
	b.code(pawl.CodeNotFound, err)
}
