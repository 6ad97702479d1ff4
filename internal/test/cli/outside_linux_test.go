//go:build e2e

package cli

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// outsideCase is a sequence of commands that must have the same effect with Pawl as without it.
type outsideCase struct {
	setup string   // creates the project, by the user
	steps []string // each is a command
	vary  []string // patterns of files whose content differs from run to run
	omit  []string // patterns of files to leave out, see docs/explanation/sandbox.md#differences
	check string   // prints what must be equal instead, by the user
}

const (
	gitDates = "export GIT_AUTHOR_DATE=2026-01-01T00:00:00Z GIT_COMMITTER_DATE=2026-01-01T00:00:00Z; "
	gitSetup = gitDates + `git init -q -b main .; git config user.name n; git config user.email e@example.org; git config pack.threads 1
echo 1 >a; echo 2 >b; mkdir -p d/sub; echo 3 >d/c; echo 4 >d/sub/e; git add -A; git commit -qm one`
	gitCheck = `git status --short; git fsck --no-dangling 2>&1; git log --all --format='%H %s'; git stash list`
)

// gitCases has commands in a repository.
func gitCases() map[string]outsideCase {
	cases := map[string][]string{
		"files":                  {"echo 1 >new; mkdir -p x/y; echo 2 >x/y/z; echo 3 >>a", "rm a; mv x w; chmod 755 new"},
		"commit":                 {"echo 3 >>a; git add -A; git commit -qm two", "echo 4 >>a; git commit -qam three; git commit -q --amend -m four", "git reset -q --hard HEAD~1"},
		"git mv of a directory":  {"git mv d e; git commit -qm mv", "mv e f; rm -r f/sub", "git add -A; git commit -qm moved; git mv f/c f/g"},
		"stash":                  {"echo 3 >>a; git stash -q; echo 5 >b; git stash pop -q", "echo n >new; git stash -qu", "git stash pop -q; git stash list"},
		"rebase":                 {"git switch -qc topic; echo t >t; git add -A; git commit -qm t; git switch -q main; echo m >m; git add -A; git commit -qm m", "git rebase -q main topic"},
		"rebase with a conflict": {"git switch -qc topic; echo t >a; git commit -qam t; git switch -q main; echo m >a; git commit -qam m; git rebase -q main topic", "echo r >a; git add a; GIT_EDITOR=true git rebase --continue >/dev/null"},
		"merge with a conflict":  {"git switch -qc topic; echo t >a; git commit -qam t; git switch -q main; echo m >a; git commit -qam m; git merge -q topic", "echo r >a; git add a; git commit -qm merged"},
		"gc":                     {"for i in 1 2 3; do echo $i >a; git commit -qam $i; done; git gc -q", "git checkout -q HEAD~2; git repack -qad; git gc -q --prune=now"},
		"worktree":               {"git worktree add -q wt -b topic; echo t >wt/t; git -C wt add t; git -C wt commit -qm t", "git -C wt log --format=%s; git merge -q topic", "git worktree remove wt; git branch -q -d topic; git worktree list --porcelain | grep -c HEAD"},
		"tags and clean":         {"git tag v1; git tag -m two v2; touch junk; git clean -qfd; git branch -m main trunk", "git pack-refs --all; git tag -d v1; git bisect start -q; git bisect reset -q"},
		"types":                  {"rm -r d; echo file >d; rm a; mkdir a; echo x >a/x", "git checkout -q -- .; git status --short"},
	}
	all := map[string]outsideCase{}
	for name, steps := range cases {
		for i := range steps {
			steps[i] = gitDates + steps[i]
		}
		omit := []string{".git/objects/[0-9a-f][0-9a-f]", ".git/objects/info/commit-graph"}
		all["git: "+name] = outsideCase{omit: omit, setup: gitSetup, steps: steps, vary: []string{".git/index", ".git/worktrees/*/index"}, check: gitCheck}
	}
	return all
}

// toolCases has commands of build tools.
func toolCases() map[string]outsideCase {
	const npm = "export npm_config_offline=true npm_config_audit=false npm_config_fund=false npm_config_update_notifier=false; "
	return map[string]outsideCase{
		"make": {
			setup: `printf 'all: out/app\nout/%%: src\n\tmkdir -p out && cp src $@\nclean:\n\trm -rf out\n' >Makefile; echo 1 >src`,
			steps: []string{"make -s; make -q; echo $?", "make -q", "touch src; make -q", "make; make -q; echo $?", "make -s clean; make -s -j4", "make nothing"},
		},
		"go": {
			setup: `printf 'module example.org/app\n\ngo 1.21\n' >go.mod; printf 'package main\n\nfunc main() { println(text()) }\n' >main.go; printf 'package main\n\nfunc text() string { return "one" }\n' >text.go`,
			steps: []string{
				"export CGO_ENABLED=0; go build -trimpath -o bin/app . && ./bin/app 2>&1",
				"export CGO_ENABLED=0; sed -i s/one/two/ text.go; go build -trimpath -o bin/app . && ./bin/app 2>&1; go mod edit -go=1.22; echo 'package  main' >odd.go; gofmt -w odd.go",
				"export CGO_ENABLED=0; echo 'func broken() int {}' >>odd.go; go build -trimpath -o bin/app . 2>/dev/null",
			},
		},
		"npm": {
			setup: npm + `for v in 1.0.0 2.0.0; do
mkdir -p pack/lib/sub; printf '{"name":"lib","version":"'$v'","bin":{"lib":"cli.js"}}' >pack/package.json
printf '#!/usr/bin/env node\nconsole.log("'$v'")\n' >pack/cli.js; echo "exports.v='$v'" >pack/lib/sub/v$v.js; chmod 755 pack/cli.js
(cd pack; npm pack --silent >/dev/null; mv lib-$v.tgz ..); rm -r pack; done
mkdir local; printf '{"name":"local","version":"1.0.0"}' >local/package.json
printf '{"name":"app","version":"1.0.0","scripts":{"postinstall":"echo installed >post","test":"lib"},"dependencies":{"lib":"file:lib-1.0.0.tgz","local":"file:local"}}' >package.json
npm install --silent --package-lock-only`,
			steps: []string{npm + "npm ci --silent && npm test --silent", npm + "npm ci --silent && npm test --silent", npm + "npm install --silent ./lib-2.0.0.tgz && npm test --silent", npm + "npm uninstall --silent lib; npm test --silent", npm + "rm package-lock.json; npm ci --silent"},
		},
		"pytest": {
			setup: `mkdir pkg tests; touch pkg/__init__.py; echo 'def f(): return 1' >pkg/a.py; printf 'from pkg.a import f\n\ndef test_f():\n    assert f() == 1\n\ndef test_tmp(tmp_path):\n    (tmp_path / "x").write_text("x")\n' >tests/test_a.py; printf 'def test_no():\n    assert False\n' >tests/test_b.py; touch conftest.py`,
			steps: []string{"python3 -m pytest -q tests/test_a.py >/dev/null", "python3 -m pytest -q >/dev/null", "python3 -m pytest -q --lf >/dev/null", "python3 -m pytest -q --cache-clear -p no:cacheprovider >/dev/null; rm -r tests/__pycache__"},
		},
		// Cargo and rustc: a new file in deps takes the place of the old one, and has a second name in the directory above it.
		"cargo": {
			setup: `echo 1 >main.rs; cat >build.sh <<'EOF'
set -e
mkdir -p target/debug/deps target/debug/.fingerprint target/debug/incremental/s-1-working
exec 9>target/debug/.cargo-lock; flock -n 9
cp main.rs target/debug/incremental/s-1-working/query
rm -rf target/debug/incremental/s-1; mv target/debug/incremental/s-1-working target/debug/incremental/s-1
rm -f target/debug/deps/app-1; (cat main.rs; echo binary) >target/debug/deps/app-1; chmod 755 target/debug/deps/app-1
rm -f target/debug/app; ln target/debug/deps/app-1 target/debug/app
cp target/debug/incremental/s-1/query target/debug/.fingerprint/app
EOF`,
			steps: []string{"sh build.sh", "echo 2 >main.rs; sh build.sh; stat -c %h target/debug/app", "sh build.sh; rm -r target/debug/incremental", "echo 3 >main.rs; sh build.sh"},
		},
	}
}

// fileCases has commands that use special features of file systems.
func fileCases() map[string]outsideCase {
	python := func(lines ...string) string { return "python3 -u - <<'EOF'\n" + strings.Join(lines, "\n") + "\nEOF" }
	return map[string]outsideCase{
		"odd names": {steps: []string{"touch $'new\\nline' $'\\xff' ' ' -- -x; mkdir '*'", "mv ' ' '  '; rmdir '*'; rm -- -x"}},
		"links": {
			setup: "echo 1 >a; mkdir d; echo 2 >d/b; ln d/b h1; ln d/b d/h2",
			steps: []string{"ln -s a l; ln a h; ln -sfn d k; echo h >>h; stat -c %h h", "rm h1; cat d/h2", "echo x >n; ln n d/n; mv n m; stat -c %h m", "rm d/n; ls d"},
		},
		"read-only": {
			setup: "echo 1 >f; mkdir d; echo 2 >d/g; chmod 444 f; chmod 555 d",
			steps: []string{
				"echo x >f", "echo x >d/new; rm -f d/g", "rm -rf d; ls d",
				"rm -f f; echo 2 >f; chmod 444 f; mv f e", "chmod 755 d; echo x >d/new; echo 3 >>d/g; mkdir d/sub; chmod 555 d/sub d",
				"mv d/g g; mv d c; cp -a c b; echo y >b/sub/new", "mkdir -p m/n; echo 1 >m/n/o; chmod 400 m/n/o; chmod 555 m/n m; chmod -R u+w c; rm -r c; echo z >>m/n/o",
			},
		},
		"sqlite": {
			steps: []string{
				python("import sqlite3, os", "c = sqlite3.connect('app.db')", "print(c.execute('pragma journal_mode=wal').fetchone())", "c.execute('create table t(x)'); c.execute('insert into t values(1)'); c.commit()",
					"d = sqlite3.connect('app.db')", "print(d.execute('select count(*) from t').fetchone(), sorted(os.listdir('.')))", "d.execute('insert into t values(2)'); d.commit()",
					"print(c.execute('select count(*) from t').fetchone())", "os._exit(3) # leaves the log"),
				python("import sqlite3", "c = sqlite3.connect('app.db'); d = sqlite3.connect('app.db', timeout=0.1)", "print(c.execute('select count(*) from t').fetchone())",
					"c.execute('begin immediate'); c.execute('insert into t values(3)')", "try: d.execute('insert into t values(4)')", "except sqlite3.OperationalError as e: print(e)", "d.rollback()", "print(d.execute('select count(*) from t').fetchone())",
					"c.commit(); print(d.execute('pragma wal_checkpoint(truncate)').fetchone())", "d.execute('insert into t values(5)'); d.commit()"),
				python("import sqlite3, os", "c = sqlite3.connect('app.db'); c.execute('delete from t where x=1'); c.commit()", "os._exit(0)"),
			},
			vary:  []string{"app.db*"},
			check: "stat -c '%n %s' app.db*; " + python("import sqlite3", "c = sqlite3.connect('app.db'); print(c.execute('pragma integrity_check').fetchall(), list(c.iterdump()))"),
		},
		"sockets": {steps: []string{
			python("import socket, os, stat", "s = socket.socket(socket.AF_UNIX); s.bind('sock'); s.listen()", "c = socket.socket(socket.AF_UNIX); c.connect('sock'); c.send(b'hello')", "print(s.accept()[0].recv(9), stat.S_ISSOCK(os.stat('sock').st_mode))",
				"d = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); d.bind('dgram'); c = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); c.sendto(b'x', 'dgram'); print(d.recv(9))", "os.remove('sock'); os.remove('dgram')"),
			"mkdir run; mkfifo run/fifo; (echo through >run/fifo &) ; cat run/fifo >out; rm -r run",
		}},
		"mmap": {
			setup: "head -c 100000 /dev/zero >data; echo log >log",
			steps: []string{
				python("import mmap, os", "f = open('data', 'r+b'); m = mmap.mmap(f.fileno(), 0); g = open('data', 'r+b'); n = mmap.mmap(g.fileno(), 0)", "m[5:8] = b'abc'; print(n[5:8], os.pread(g.fileno(), 3, 5))",
					"if os.fork() == 0: n[0:1] = b'X'; os._exit(0)", "os.wait(); print(m[0:1]); os.pwrite(f.fileno(), b'Y', 9); print(n[9:10])", "m.flush(); m.resize(200000); m[150000:150003] = b'end'"),
				"exec 3<log; echo more >>log; cat <&3; exec 4>>log; rm log; echo gone >&4; echo new >log",
				python("import mmap", "f = open('new', 'w+b'); f.truncate(4096); m = mmap.mmap(f.fileno(), 0); f.close(); m[:3] = b'new' # and ends without a flush"),
			},
		},
		"locks": {
			setup: "echo 1 >lock; echo 1 >ro; chmod 444 ro",
			steps: []string{
				"exec 3<lock; flock -n 3; echo x >>lock; flock -n lock true; echo $?; exec 3<&-; flock -n lock true; echo $?",
				"exec 3<ro; flock -s 3; flock -n -s ro true; echo $?; flock -n -x ro true; echo $?",
				python("import fcntl, os", "f = open('lock', 'r+'); fcntl.lockf(f, fcntl.LOCK_EX, 1)", "if os.fork() == 0:", "  g = open('lock', 'r+')", "  try: fcntl.lockf(g, fcntl.LOCK_EX | fcntl.LOCK_NB, 1)", "  except OSError as e: print(e.errno, flush=True)", "  fcntl.lockf(g, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, 1); os._exit(0)", "print(os.wait()[1]); f.write('locked')"),
				"for i in 1 2 3 4 5 6 7 8; do flock count sh -c 'echo $(($(cat count) + 1)) >count' & done; wait; cat count",
				"set -C; echo 1 >excl && ! echo 2 >excl; mkdir once && ! mkdir once",
			},
		},
		"times and sparse files": {
			setup: "echo 1 >a; touch -d 2020-01-01 a",
			steps: []string{"cp -p a b; touch -d 2021-02-03T04:05:06.123456789 a; truncate -s 64M sparse; find . -newer b | sort", "find . -newer b | sort; test $(stat -c %b sparse) -lt 1000; echo $?; rm sparse", "dd if=/dev/zero of=hole bs=1 seek=1M count=1 2>/dev/null; fallocate -l 8192 full || echo $?"},
		},
		"exit codes": {steps: []string{"exit 7", "kill -TERM $$", "false | true", "nosuchcommand", "(sleep 0.1; echo late >late) & wait"}},
	}
}

// TestCommandsAsOutside runs the same commands bare and with Pawl in the same directory, and compares their output, their
// exit codes and the files.
func TestCommandsAsOutside(t *testing.T) {
	t.Parallel()
	for _, cases := range []map[string]outsideCase{gitCases(), toolCases(), fileCases()} {
		for name, c := range cases {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				p := newTransactionProject(t, "/var/tmp")
				p.sh(c.setup)
				p.sh("cp -a . ../before")
				bare := p.trace(c, p.bare)
				p.sh("chmod -R u+rwx .; find . -mindepth 1 -delete; cp -a ../before/. .; chmod --reference=../before .")
				if diff := cmp.Diff(bare, p.trace(c, p.command)); diff != "" {
					t.Errorf("(-bare +with Pawl)\n%s", diff)
				}
			})
		}
	}
}

// TestDifferencesFromOutside: the differences that docs/explanation/sandbox.md names are as it says.
func TestDifferencesFromOutside(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ setup, step, reported, check, want string }{
		"sockets and FIFOs": {
			step:     `mkfifo fifo; python3 -c "import socket; socket.socket(socket.AF_UNIX).bind('sock')"; test -p fifo && test -S sock && echo both >out`,
			reported: "pawl: fifo not changed: Pawl never applies this: FIFO\npawl: sock not changed: Pawl never applies this: socket\n", check: "ls; cat out", want: "out\nboth\n",
		},
		"a file with several names": {setup: "echo 1 >a; ln a b", step: "echo 2 >>a", check: "cat a b", want: "1\n2\n1\n"},
		"a new name for a file":     {setup: "echo 1 >a", step: "ln a b; stat -c %h b", check: "cat b; test a -ef b || echo copy", want: "1\ncopy\n"},
		"a map of a file before it is written": {
			setup: "echo old >a", step: `python3 -c "
import mmap
f = open('a', 'rb'); m = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ)
open('a', 'r+b').write(b'new'); assert (m[:3], f.read(3)) == (b'old', b'new')"`, check: "cat a", want: "new\n",
		},
		"unreachable git objects": {
			setup: gitSetup + "; echo unreachable | git hash-object -w --stdin >../id", step: "git prune --expire=now",
			reported: "it deletes a git object that is in no pack", check: "git cat-file -p $(cat ../id)", want: "unreachable\n",
		},
		"caches of git objects": {setup: gitSetup, step: "git commit-graph write --reachable && test -e .git/objects/info/commit-graph", check: "ls .git/objects/info; git fsck", want: ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newTransactionProject(t, "/var/tmp")
			p.sh(c.setup)
			cmd := p.command(c.step)
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			if err := cmd.Run(); (err != nil) != (c.reported != "") || !strings.Contains(stderr.String(), c.reported) {
				t.Errorf("%v, reported:\n%s", err, stderr.String())
			}
			if got := p.sh(c.check); got != c.want {
				t.Errorf("%q", got)
			}
		})
	}
}

// bare returns a command without a sandbox. Like one in the sandbox, it has no capabilities, even as root.
func (p *project) bare(script string) *exec.Cmd {
	args := []string{"bash", "-c", script}
	if os.Getuid() == 0 {
		args = append([]string{"setpriv", "--bounding-set=-all", "--inh-caps=-all"}, args...)
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = p.dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LANG=" + os.Getenv("LANG"), "HOME=" + p.home}
	return cmd
}

// trace runs the steps of a case and returns what each printed and how it ended, and the files after it.
func (p *project) trace(c outsideCase, command func(string) *exec.Cmd) (lines []string) {
	p.t.Helper()
	for _, step := range c.steps {
		cmd := command(step)
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		var exit *exec.ExitError
		if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
			p.t.Fatal(err)
		}
		code := cmd.ProcessState.ExitCode()
		if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			code = 128 + int(status.Signal())
		}
		lines = append(lines, fmt.Sprintf("%s: exit code %d", step, code), stdout.String())
		lines = append(lines, p.files(c)...)
		p.t.Logf("%s\n%s%s", step, stdout.String(), stderr.String())
	}
	return append(lines, p.sh(c.check))
}

// files lists the files of the project with their properties and contents. Of hard links it tells which belong together.
func (p *project) files(c outsideCase) (lines []string) {
	p.t.Helper()
	first := map[uint64]string{}
	err := filepath.WalkDir(p.dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(p.dir, path)
		if matches(name, c.omit) && (!e.IsDir() || isEmpty(path)) {
			return nil
		}
		line := fmt.Sprintf("%q %v", name, info.Mode())
		switch {
		case info.Mode().IsRegular():
			st := info.Sys().(*syscall.Stat_t)
			if _, ok := first[st.Ino]; !ok {
				first[st.Ino] = name
			}
			line += fmt.Sprintf(", same as %q", first[st.Ino])
			if !matches(name, c.vary) {
				text, err := os.ReadFile(path)
				if err != nil {
					return err
				}
				line += fmt.Sprintf(" %d bytes %x", len(text), sha256.Sum256(text))
			}
		case info.Mode().Type() == fs.ModeSymlink:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			line += " -> " + target
		}
		lines = append(lines, line)
		return nil
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return lines
}

func matches(name string, patterns []string) bool {
	for _, pattern := range patterns {
		if ok, _ := filepath.Match(pattern, name); ok {
			return true
		}
	}
	return false
}

func isEmpty(dir string) bool {
	entries, err := os.ReadDir(dir)
	return err == nil && len(entries) == 0
}
