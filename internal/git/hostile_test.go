package git

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// trick is a way to make git run a program.
type trick struct {
	name  string
	lay   func(w *env)
	plain [][]string // plain git commands that run the program
	apart bool       // no call of pawl reaches it, even without its hardening
}

func config(pairs ...string) func(w *env) {
	return func(w *env) {
		for i := 0; i < len(pairs); i += 2 {
			w.must("config", strings.ReplaceAll(pairs[i], "EVIL", w.evil), strings.ReplaceAll(pairs[i+1], "EVIL", w.evil))
		}
	}
}

// tricks are those that the files of a repository make possible. Rows A3, C13, D1 to
// D6.
var tricks = []trick{
	{name: "fsmonitor", lay: config("core.fsmonitor", "EVIL"), plain: [][]string{{"status"}}},
	{name: "fsmonitor, included", lay: func(w *env) {
		w.file("more", "[core]\n\tfsmonitor = "+w.evil+"\n")
		config("include.path", "../more")(w)
	}, plain: [][]string{{"status"}}},
	{name: "fsmonitor, included by a condition", lay: func(w *env) {
		w.file("more", "[core]\n\tfsmonitor = "+w.evil+"\n")
		config("includeIf.onbranch:main.path", "../more")(w)
	}, plain: [][]string{{"status"}}},
	{name: "fsmonitor, of this worktree", lay: func(w *env) {
		config("extensions.worktreeConfig", "true")(w)
		w.must("config", "--worktree", "core.fsmonitor", w.evil)
	}, plain: [][]string{{"status"}}},
	{name: "a hook", lay: func(w *env) { w.link(".git/hooks/pre-commit") }, plain: [][]string{{"commit", "-aqm", "x"}}},
	{name: "a hook of the index", lay: func(w *env) { w.link(".git/hooks/post-index-change") }, plain: [][]string{{"add", "f"}}},
	{name: "a hook of refs", lay: func(w *env) { w.link(".git/hooks/reference-transaction") }, plain: [][]string{{"commit", "-aqm", "x"}}},
	{name: "a hook elsewhere", lay: func(w *env) {
		w.link("tools/post-commit")
		config("core.hooksPath", "tools")(w)
	}, plain: [][]string{{"commit", "-aqm", "x"}}},
	{name: "clean", lay: filter("evil", "clean"), plain: [][]string{{"diff"}}},
	{name: "smudge", lay: func(w *env) {
		filter("evil", "smudge")(w)
		w.must("add", ".gitattributes")
		w.must("commit", "-qm", "attributes")
	}, plain: [][]string{{"checkout-index", "-f", "f"}}},
	{name: "process", lay: filter("evil", "process"), plain: [][]string{{"add", "f"}}},
	{name: "a filter with an odd name", lay: filter("a=b.c", "clean"), plain: [][]string{{"diff"}}},
	{name: "a filter in attributes outside of the worktree", lay: func(w *env) {
		filter("evil", "clean")(w)
		w.rename(".gitattributes", ".git/info/attributes")
	}, plain: [][]string{{"diff"}}},
	{name: "textconv", lay: func(w *env) {
		w.file(".gitattributes", "* diff=evil\n")
		config("diff.evil.textconv", "EVIL")(w)
	}, plain: [][]string{{"diff"}}},
	{name: "a diff of one's own", lay: func(w *env) {
		w.file(".gitattributes", "* diff=evil\n")
		config("diff.evil.command", "EVIL")(w)
	}, plain: [][]string{{"diff"}}},
	{name: "an external diff", lay: config("diff.external", "EVIL"), plain: [][]string{{"diff"}}},
	{name: "a program to sign", lay: config("commit.gpgSign", "true", "gpg.program", "EVIL"), plain: [][]string{{"commit", "-aqm", "x"}}},
	{name: "a program to sign by ssh", lay: config("commit.gpgSign", "true", "gpg.format", "ssh", "user.signingKey", "key::x", "gpg.ssh.program", "EVIL"),
		plain: [][]string{{"commit", "-aqm", "x"}}},
	{name: "a signature in the log", lay: func(w *env) {
		config("log.showSignature", "true", "gpg.program", "EVIL")(w)
		w.signed()
	}, plain: [][]string{{"log"}}},
	{name: "ssh", lay: config("core.sshCommand", "EVIL", "remote.origin.url", "ssh://127.0.0.1/x"), plain: [][]string{{"fetch"}}},
	{name: "ext", lay: config("protocol.ext.allow", "always", "remote.origin.url", "ext::EVIL"), plain: [][]string{{"fetch"}}},
	{name: "another program to fetch from", lay: config("remote.origin.uploadpack", "EVIL", "remote.origin.url", "."), plain: [][]string{{"fetch"}}},
	{name: "another address", lay: config("protocol.ext.allow", "always", "remote.origin.url", "https://127.0.0.1/x", "url.ext::EVIL .insteadOf", "https://127.0.0.1/"),
		plain: [][]string{{"fetch"}}},
	{name: "an object that is fetched when it is missed", lay: func(w *env) {
		config("protocol.ext.allow", "always", "remote.origin.url", "ext::EVIL", "remote.origin.promisor", "true",
			"extensions.partialClone", "origin", "core.repositoryFormatVersion", "1")(w)
		id := w.must("rev-parse", "main:sub/g")
		if err := os.Remove(filepath.Join(w.dir, ".git/objects", id[:2], id[2:])); err != nil {
			w.t.Fatal(err)
		}
	}, plain: [][]string{{"cat-file", "blob", "main:sub/g"}}},
	{name: "refs of another object store", lay: func(w *env) {
		other := filepath.Join(filepath.Dir(w.dir), "other")
		w.must("clone", "-q", ".", other)
		w.file(".git/objects/info/alternates", other+"/.git/objects\n")
		config("core.alternateRefsCommand", "EVIL", "remote.origin.url", other, "remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*")(w)
		if err := os.RemoveAll(filepath.Join(w.dir, ".git/refs/remotes")); err != nil {
			w.t.Fatal(err)
		}
	}, plain: [][]string{{"-C", "../other", "commit", "--allow-empty", "-qm", "x"}, {"fetch"}}},
	{name: "a submodule's filter", lay: func(w *env) {
		w.file(".gitmodules", "[submodule \"mod\"]\n\tpath = mod\n\turl = ./mod\n\tignore = none\n")
		w.must("add", ".gitmodules")
		config("submodule.mod.ignore", "none")(w)
		w.must("init", "-q", "mod")
		w.file("mod/h", "h\n")
		w.must("-C", "mod", "add", "h")
		w.must("-C", "mod", "-c", "user.name=n", "-c", "user.email=e", "commit", "-qm", "h")
		w.must("-c", "advice.addEmbeddedRepo=false", "add", "mod")
		w.must("commit", "-qm", "with a submodule")
		w.file("mod/h", "j\n") // same size as before, so that git must read it
		w.file("mod/.gitattributes", "* filter=evil\n")
		w.must("-C", "mod", "config", "filter.evil.clean", w.evil)
	}, plain: [][]string{{"status"}}},
	{name: "an alias", lay: config("alias.evil", "!EVIL"), plain: [][]string{{"evil"}}, apart: true},
	{name: "an editor", lay: config("core.editor", "EVIL"), plain: [][]string{{"commit", "-a"}}, apart: true},
	{name: "a merge", lay: func(w *env) {
		w.file(".gitattributes", "* merge=evil\n")
		config("merge.evil.driver", "EVIL")(w)
		w.must("checkout", "-qb", "side")
		w.must("commit", "-aqm", "side")
		w.must("checkout", "-q", "main")
		w.file("f", "three\n")
		w.must("commit", "-aqm", "main")
	}, plain: [][]string{{"merge", "side"}}, apart: true},
}

func filter(name, kind string) func(w *env) {
	return func(w *env) {
		w.file(".gitattributes", "* filter="+name+"\n")
		config("filter."+name+"."+kind, "EVIL")(w)
	}
}

func (w *env) rename(from, to string) {
	w.t.Helper()
	if err := os.Rename(filepath.Join(w.dir, from), filepath.Join(w.dir, to)); err != nil {
		w.t.Fatal(err)
	}
}

// link makes a file of the repository a link to the program that creates a file.
func (w *env) link(name string) {
	w.t.Helper()
	path := filepath.Join(w.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.Symlink(w.evil, path); err != nil {
		w.t.Fatal(err)
	}
}

// signed adds a signed commit to the branch.
func (w *env) signed() {
	w.t.Helper()
	text := "tree " + w.must("rev-parse", "main^{tree}") + "\nauthor n <e> 1 +0000\ncommitter n <e> 1 +0000\n" +
		"gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\nsigned\n"
	path := filepath.Join(filepath.Dir(w.dir), "commit")
	w.write(path, text)
	w.must("update-ref", "refs/heads/main", w.must("hash-object", "-t", "commit", "-w", path))
}

// TestHostile: pawl runs no program that the repository configures. Plain git does run
// it in the same repository, so the trick is real.
func TestHostile(t *testing.T) {
	t.Parallel()
	for _, tt := range tricks {
		t.Run(tt.name, func(t *testing.T) {
			w := newEnv(t)
			tt.lay(w)
			if err := os.RemoveAll(filepath.Join(w.seen, "evil")); err != nil { // created by the setup
				t.Fatal(err)
			}
			faults := w.all()
			if got := w.tripped(); got != "" {
				t.Errorf("it ran %s", read(t, filepath.Join(w.seen, got)))
			}
			t.Log(faults)

			control := newEnv(t)
			tt.lay(control)
			if err := os.RemoveAll(filepath.Join(control.seen, "evil")); err != nil {
				t.Fatal(err)
			}
			var out []string
			for _, args := range tt.plain {
				text, err := control.plain(args...)
				out = append(out, text)
				if err != nil {
					out = append(out, err.Error())
				}
			}
			if control.tripped() == "" {
				t.Errorf("plain git does not fall for it: %q", out)
			}
		})
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestHelper: git asks no helper program for a password.
func TestHelper(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
		w.WriteHeader(http.StatusUnauthorized)
	}))
	defer srv.Close()
	lay := config("credential.helper", "EVIL", "credential.http://127.0.0.1.helper", "EVIL", "remote.origin.url", srv.URL)
	w := newEnv(t)
	lay(w)
	w.all()
	if w.tripped() != "" || asked.Load() > 0 {
		t.Errorf("it ran %q and made %d requests", w.tripped(), asked.Load())
	}
	if out, _ := w.plain("fetch", "origin"); w.tripped() == "" {
		t.Errorf("plain git does not fall for it: %s", out)
	}
}

// TestPager: git runs a pager only on a terminal, so plain git gets one.
func TestPager(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	config("core.pager", "EVIL", "pager.log", "EVIL")(w)
	w.all()
	if w.tripped() != "" {
		t.Error("the pager was run")
	}
	w.onTerminal("log")
	if w.tripped() == "" {
		t.Error("plain git does not fall for it")
	}
}

// TestVariables: pawl's environment variables do not reach git.
func TestVariables(t *testing.T) {
	for _, tt := range []struct {
		name, variable, value string
		plain                 []string
	}{
		{"an external diff", "GIT_EXTERNAL_DIFF", "EVIL", []string{"diff"}},
		{"an editor", "GIT_EDITOR", "EVIL", []string{"commit", "-a"}},
		{"ssh", "GIT_SSH_COMMAND", "EVIL", []string{"fetch", "ssh://127.0.0.1/x"}},
		{"another repository", "GIT_DIR", "OTHER", []string{"status"}},
		{"settings", "GIT_CONFIG_PARAMETERS", "'core.fsmonitor'='EVIL'", []string{"status"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w, other := newEnv(t), newEnv(t)
			config("remote.origin.url", "ssh://127.0.0.1/x")(w)
			other.must("config", "core.fsmonitor", w.evil)
			t.Setenv(tt.variable, strings.NewReplacer("EVIL", w.evil, "OTHER", other.dir+"/.git").Replace(tt.value))
			w.all()
			if w.tripped() != "" {
				t.Error("it was run")
			}
			w.file("f", "changed again\n")
			if out, _ := w.plain(tt.plain...); w.tripped() == "" {
				t.Errorf("plain git does not fall for it: %s", out)
			}
		})
	}
}
