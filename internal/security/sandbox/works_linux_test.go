package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestWorks: what commands do every day goes on in a sandbox.
func TestWorks(t *testing.T) {
	for _, test := range []struct {
		name, script, want string
		not                string // why it does not in the landlock sandbox
	}{
		{name: "exit codes", script: `exit 37`, want: "exit 37"},
		{name: "a signal", script: `kill -TERM $$`, want: "exit 143"},
		{name: "read the workspace", script: `cat src/main.go; ls -d src .git .vscode`, want: "package main.git\n.vscode\nsrc\n"},
		{name: "read what is protected", script: `cat .mcp.json .vscode/settings.json; git config core.bare`, want: "mineminefalse\n"},
		{name: "write", script: `echo a > src/a && mkdir -p src/b/c && echo d > src/b/c/d && mv src/b src/e && rm src/a && cat src/e/c/d`, want: "d\n"},
		{name: "write at the top", script: `echo a > new.txt && mkdir build && mv new.txt build/ && cat build/new.txt`, want: "a\n", not: "nothing can be created beside what is protected"},
		{name: "links", script: `ln -s main.go src/l && ln src/main.go src/h && cat src/l src/h`, want: "package mainpackage main"},
		{name: "temporary files", script: `f=$(mktemp) && echo a > $f && cat $f && echo b > $TMPDIR/x && cat $TMPDIR/x`, want: "a\nb\n"},
		{name: "/tmp", script: `echo a > /tmp/x && cat /tmp/x && echo b > /var/tmp/x && cat /var/tmp/x`, want: "a\nb\n", not: "only TMPDIR is its own"},
		{name: "the home folder", script: `cat ~/bin/tool; git config --global user.name`, want: "toolme\n"},
		{name: "commit", script: `git add src && git -c user.name=n -c user.email=e commit -qm a && git log --format=%s && git status --short src`, want: "a\n", not: "nothing can be created in .git"},
		{name: "branches", script: `git add src && git -c user.name=n -c user.email=e commit -qm a && git checkout -qb b && git tag t && git pack-refs --all && git branch --show-current`, want: "b\n", not: "nothing can be created in .git"},
		{name: "git status", script: `git status --short src`, want: "?? src/\n"},
		{name: "add all", script: `rm -rf src/probe; git add -A . ':!lib' && git ls-files`, want: ".Idea/workspace.xml\n.env\n.mcp.json\n.npmrc\n.vscode/settings.json\nconf/.env.local\npkg/.cursor/mcp.json\nsrc/main.go\n", not: "nothing can be created in .git"},
		{name: "devices", script: `head -c 4 /dev/zero | wc -c; head -c 4 /dev/urandom | wc -c; echo a > /dev/null; echo b > /dev/stderr`, want: "4\n4\nb\n"},
		{name: "processes", script: `(sleep 1000 & p=$!; kill $p; wait $p; echo $?); ps -e >/dev/null && echo seen; test -d /proc/self && echo self`, want: "143\nseen\nself\n"},
		{name: "pipes and jobs", script: `seq 3 | while read n; do echo $n; done; cat <(echo a); coproc cat; echo x >&${COPROC[1]}; read -u ${COPROC[0]} l; echo $l`, want: "1\n2\n3\na\nx\n"},
		{name: "a local server", script: `perl -MIO::Socket::INET -e '$s=IO::Socket::INET->new(Listen=>1,LocalAddr=>"127.0.0.1") or die; if(!fork){$c=IO::Socket::INET->new($s->sockhost.":".$s->sockport); print $c "hi\n"; exit} $c=$s->accept; print <$c>'`, want: "hi\n", not: "it has no network at all"},
		{name: "a local unix server", script: `perl -MIO::Socket::UNIX -e '$s=IO::Socket::UNIX->new(Listen=>1,Local=>"src/s") or die; if(!fork){$c=IO::Socket::UNIX->new("src/s"); print $c "hi\n"; exit} $c=$s->accept; print <$c>'`, want: "hi\n", not: "it has no sockets at all"},
		{name: "shared memory", script: `echo a > /dev/shm/x && cat /dev/shm/x`, want: "a\n", not: "it is shared with others"},
		{name: "variables", script: `echo $HOME; echo $TERM; [ -n "$PATH" ] && echo path`, want: "{home}\ntest\npath\n"},
		{name: "the terminal's calls", script: `test -t 0; stty -a 2>/dev/null; echo $?`, want: "1\n"},
	} {
		for _, backend := range allBackends(t) {
			t.Run(backend.Name()+"/"+test.name, func(t *testing.T) {
				t.Setenv("TERM", "test")
				w := newTestEnv(t, backend)
				o := w.run(w.profile, test.script)
				got := o.output
				if strings.HasPrefix(test.want, "exit ") {
					got = "exit " + itoa(o.code)
				}
				want := w.names.Replace(test.want)
				if backend.Name() == "view" { // it hides files by their absence
					want = strings.NewReplacer(".env\n", "", "conf/.env.local\n", "").Replace(want)
				}
				if test.not != "" && backend.Name() == "landlock" {
					if got == want {
						t.Error("it works here, too: say so in the guide")
					}
					return
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Error(diff)
				}
				if len(o.reported) > 0 {
					t.Errorf("Check tells of %q", o.reported)
				}
			})
		}
	}
}

// TestProfile: each part of a profile does what it says.
func TestProfile(t *testing.T) { //nolint:paralleltest // it sets environment variables
	for _, backend := range backends(t) {
		w := newTestEnv(t, backend)
		extra, temp := filepath.Join(w.root, "extra"), filepath.Join(w.root, "temp")
		for _, dir := range []string{extra, temp} {
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		t.Setenv("GOPATH", "/go")
		for _, test := range []struct {
			name   string
			change func(*Profile)
			script string
			want   string
		}{
			{"nothing", func(*Profile) {}, `pwd; echo "$GOPATH$MINE"`, "{ws}\n\n"},
			{"Work", func(p *Profile) { p.Work = filepath.Join(w.ws, "src") }, `pwd`, "{ws}/src\n"},
			{"ReadOnly", func(p *Profile) { p.ReadOnly = true }, `touch src/a 2>/dev/null || echo no; echo a > $TMPDIR/a && echo temp`, "no\ntemp\n"},
			{"Writable", func(p *Profile) { p.Writable = []string{extra} }, `echo a > {root}/extra/a && cat {root}/extra/a`, "a\n"},
			{"Writable and ReadOnly", func(p *Profile) { p.Writable, p.ReadOnly = []string{extra}, true }, `echo b > {root}/extra/a && cat {root}/extra/a; touch src/b 2>/dev/null || echo no`, "b\nno\n"},
			{"Temp", func(p *Profile) { p.Temp = temp }, `echo a > $TMPDIR/kept`, ""},
			{"Temp again", func(p *Profile) { p.Temp = temp }, `cat $TMPDIR/kept`, "a\n"},
			{"no Temp", func(*Profile) {}, `ls $TMPDIR`, ""},
			{"Env", func(p *Profile) { p.Env = []string{"GOPATH", "MINE=1", "TERM=x", "NOT_THERE"} }, `echo $GOPATH $MINE $TERM ${NOT_THERE-unset}`, "/go 1 x unset\n"},
			{"Protected", func(p *Profile) { p.Protected = []string{"conf", "src/keep.txt", "deep/er/name"} },
				`for f in conf/x src/keep.txt src/conf deep/er/name deep; do { echo a > $f; } 2>/dev/null || echo no $f; done`, "no conf/x\nno src/keep.txt\nno deep/er/name\nno deep\n"},
			{"Hidden", func(p *Profile) { p.Hidden = []string{filepath.Join(w.ws, "pkg"), "*.GO"} }, `ls -A pkg 2>/dev/null; cat src/main.go 2>/dev/null; echo end`, "end\n"},
		} {
			t.Run(backend.Name()+"/"+test.name, func(t *testing.T) {
				p := w.profile
				test.change(&p)
				want := w.names.Replace(test.want)
				if backend.Name() == "view" { // it hides files by their absence
					want = strings.NewReplacer(".env\n", "", "conf/.env.local\n", "").Replace(want)
				}
				if backend.Name() == "landlock" {
					switch test.name {
					case "Protected": // there, nothing new comes beside it
						want = strings.Replace(want, "no deep/", "no src/conf\nno deep/", 1)
					case "Hidden": // names can be seen
						want = ".cursor\n" + want
					}
				}
				o := w.run(p, test.script)
				if diff := cmp.Diff(want, o.output); diff != "" {
					t.Error(diff)
				}
				_ = os.Remove(filepath.Join(w.ws, "src", "conf"))
			})
		}
	}
}

// TestLeavesNothing: when it ends a sandbox has left nothing in the workspace, and
// what it needed there went unseen by git.
func TestLeavesNothing(t *testing.T) { //nolint:paralleltest // its processes share HOME and what Release removes
	for _, backend := range backends(t) {
		t.Run(backend.Name(), func(t *testing.T) {
			w := newTestEnv(t, backend)
			before := names(w.ws)
			o := w.run(w.profile, `git status --short --ignored | grep -v -e 'src/' -e 'pkg/' -e 'lib/' -e 'conf/'; touch src/x`)
			if diff := cmp.Diff("?? .Idea/\n?? .env\n?? .mcp.json\n?? .npmrc\n?? .vscode/\n", o.output); diff != "" {
				t.Error(diff)
			}
			Release()
			if diff := cmp.Diff(before, names(w.ws)); diff != "" {
				t.Error(diff)
			}
			if _, err := os.Stat(filepath.Join(w.ws, "src/x")); err != nil {
				t.Error(err)
			}
		})
	}
}
