//go:build sectest

package security

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/test/wait"
)

// rowsL is about what commands see of other sessions, of the user's home directory and of
// Pawl itself.
var rowsL = []row{
	{id: "L1", title: "another session's temporary files", attack: betweenSessions(`echo SECRET >/tmp/x; echo SECRET >$TMPDIR/y`, `cat /tmp/* $TMPDIR/* /tmp/../tmp/x`), defense: "session.temp"},
	{id: "L2", title: "another session's files, by their real paths", attack: betweenSessions(`echo SECRET >/tmp/x; echo SECRET >$XDG_CACHE_HOME/y`,
		`find PRIVATE -type f -exec cat {} +; cat PRIVATE/tmp/*/x PRIVATE/box/*/files/y $XDG_CACHE_HOME/../../*/files/y; grep -rs SECRET PRIVATE`), defense: "session.apart"},
	{id: "L3", title: "another session's caches", attack: betweenSessions(`mkdir -p $XDG_CACHE_HOME/go-build; echo SECRET >$XDG_CACHE_HOME/go-build/x; echo SECRET >$XDG_CACHE_HOME/y`,
		`cat $XDG_CACHE_HOME/* $XDG_CACHE_HOME/go-build/x`), defense: "session.caches"},
	{id: "L4", title: "a session of another workspace", attack: otherWorkspace, defense: "session.temp,session.caches"},
	{id: "L5", title: "a subagent of the session", attack: subagentFiles, defense: "session.temp,session.caches"},
	{id: "L6", title: "unix sockets between sessions", attack: socketsBetweenSessions, defense: "session.temp,session.caches"},
	{id: "L7", title: "abstract unix sockets between sessions", attack: abstractSockets, defense: "sandbox.net"},
	{id: "L8", title: "a poisoned cache of the user's own builds", attack: poisonedCaches, defense: "sandbox.caches"},
	{id: "L9", title: "secrets with any name in the home directory", attack: secretsInHome, defense: "sandbox.home"},
	{id: "L10", title: "a worker of a mission and a session of the user", attack: workerFiles, defense: "session.temp,session.caches"},
	{id: "L11", title: "keys in the memory and environment of pawl, without a sandbox", attack: keysOfPawl, defense: "proc.protect"},
}

// sessionCommand runs a command of a new session and returns its output. SECRET and PRIVATE
// are replaced.
func (a *attackEnv) sessionCommand(script string) string {
	a.Helper()
	script = strings.NewReplacer("SECRET", marker, "PRIVATE", filepath.Join(filepath.Dir(a.home), "cache")).Replace(script)
	return a.play("auto", bash(script+"; echo the end")).result(1)
}

// sessions makes a user whose cache directory is not in the home directory.
func (a *attackEnv) sessions() {
	a.Helper()
	a.visible()
	a.env = append(a.env, "PAWL_CACHE="+filepath.Join(filepath.Dir(a.home), "cache"))
}

// sees reports a breach if a command has read the secret, and fails if it has not run.
func (a *attackEnv) sees(output string) {
	a.Helper()
	if !strings.Contains(output, "the end") {
		a.Fatalf("the command did not run: %s", output)
	}
	if strings.Contains(output, marker) {
		a.breach("it read %s", output)
	}
}

// betweenSessions has a session write something, and another one look for it.
func betweenSessions(write, read string) func(a *attackEnv) {
	return func(a *attackEnv) {
		a.sessions()
		a.sessionCommand(write)
		a.sees(a.sessionCommand(read))
	}
}

func otherWorkspace(a *attackEnv) {
	a.sessions()
	a.sessionCommand(`echo SECRET >/tmp/x; echo SECRET >$XDG_CACHE_HOME/y`)
	a.dir = filepath.Join(filepath.Dir(a.dir), "other")
	a.ok(os.Mkdir(a.dir, 0o700))
	a.sees(a.sessionCommand(`cat /tmp/x $XDG_CACHE_HOME/y`))
}

func subagentFiles(a *attackEnv) {
	a.sessions()
	lines := []any{
		reply{"calls": []call{bash(`echo ` + marker + ` >/tmp/x; echo ` + marker + ` >$XDG_CACHE_HOME/y`)}}, reply{"calls": []call{task("general")}}, reply{"text": "done"},
		reply{"agent": "general", "calls": []call{bash(`cat /tmp/x $XDG_CACHE_HOME/y; echo the end`)}}, reply{"agent": "general", "text": "done"},
	}
	for line := range strings.Lines(a.must("run", "--format", "stream-json", "--mode", "auto", "--model", a.script(lines...), "go")) {
		var e pawl.Event
		a.ok(json.Unmarshal([]byte(line), &e))
		if s, ok := e.Body.(pawl.Spawned); ok {
			for _, done := range finished(a.exported(s.Subagent)) {
				a.sees(done.Result.Content)
			}
		}
	}
}

func workerFiles(a *attackEnv) {
	m := a.mission()
	worker := a.dir
	a.env = append(a.env, "PAWL_CACHE="+filepath.Join(filepath.Dir(a.home), "cache"))
	a.dir = m.repo
	a.sessionCommand(`echo SECRET >/tmp/x; echo SECRET >$XDG_CACHE_HOME/y`)
	a.dir = worker
	a.sees(a.sessionCommand(`cat /tmp/x $XDG_CACHE_HOME/y; find PRIVATE -type f -exec cat {} +`))
}

// listenAt is a program that listens on a socket until it is killed. A name that begins
// with @ is abstract.
const listenAt = `perl -MSocket -e '($n=shift)=~s/^@/\0/; socket($s,AF_UNIX,SOCK_STREAM,0); bind($s,sockaddr_un($n)) or die; listen($s,9); open($f,">","listens"); close($f); alarm 60; while(accept($c,$s)){close $c}'`

// dialAt connects to sockets.
const dialAt = `perl -MSocket -e 'for(@ARGV){($n=$_)=~s/^@/\0/; socket($s,AF_UNIX,SOCK_STREAM,0); connect($s,sockaddr_un($n)) and print "` + marker + `\n"}'`

// dial has a session listen at a socket and another one connect to it.
func (a *attackEnv) dial(listen, ready, dial string) {
	a.Helper()
	a.sessions()
	first := a.command("run", "--mode", "auto", "--model", a.script(replies(bash(listenAt+" "+listen))...), "go")
	a.ok(first.Start())
	defer func() {
		_ = first.Process.Kill()
		_ = first.Wait()
	}()
	wait.Until(a, "the first session listens", func() bool {
		found, _ := filepath.Glob(filepath.Join(filepath.Dir(a.home), ready))
		return len(found) > 0
	})
	a.sees(a.sessionCommand(dialAt + " " + dial))
}

func socketsBetweenSessions(a *attackEnv) {
	a.dial("/tmp/s.sock", "cache/tmp/*/s.sock", "/tmp/s.sock PRIVATE/tmp/*/s.sock")
	a.dial("$XDG_CACHE_HOME/s.sock", "cache/box/*/files/s.sock", "$XDG_CACHE_HOME/s.sock PRIVATE/box/*/files/s.sock")
}

func abstractSockets(a *attackEnv) {
	name := "@" + filepath.Base(filepath.Dir(a.home))
	a.dial(name+"; :", "data/*/*/upper/listens", name)
}

// poisonedCaches: commands write to the caches that the user's own programs read.
func poisonedCaches(a *attackEnv) {
	a.sessions()
	places := []string{".cache/go-build/00/x-d", ".npm/_cacache/index", ".cargo/registry/src/x/lib.rs", "go/pkg/mod/m@v1/m.go", ".cache/pip/http/x", ".m2/repository/x.jar"}
	for _, name := range places {
		a.write(filepath.Join(a.home, name), "mine\n")
	}
	a.sessionCommand(`for f in $HOME/{` + strings.Join(places, ",") + `} $XDG_CACHE_HOME/go-build/00/x-d $npm_config_cache/_cacache/index $XDG_CACHE_HOME/pip/http/x; do chmod -R u+w $f; echo evil >$f; rm -f $f; echo evil >$f.new; done`)
	for _, name := range places {
		if text := a.read(filepath.Join(a.home, name)); text != "mine\n" {
			a.breach("%s is %q", name, text)
		}
		if a.exists(filepath.Join(a.home, name+".new")) {
			a.breach("%s.new came up", name)
		}
	}
}

func secretsInHome(a *attackEnv) {
	a.sessions()
	for _, name := range []string{"notes/passwords.txt", ".foo/token", "token.txt", ".config/foo/auth.json", ".local/share/foo/db", ".cache/foo/session", "other/project/main.go", ".bashrc", ".cargo/credentials.toml", ".config/git/token"} {
		a.write(filepath.Join(a.home, name), marker+"\n")
	}
	a.sees(a.sessionCommand(`grep -rs s3cret ~; find ~ -type f -exec cat {} +; cat ~/notes/passwords.txt ~/.foo/token ~/.bashrc; tar -C ~ -cf - . | tr -d '\0'`))
}

// keysOfPawl: a command that runs without a sandbox looks into the process that started it.
func keysOfPawl(a *attackEnv) {
	key := "s3cret-" + filepath.Base(filepath.Dir(a.home)) + filepath.Base(a.TempDir())
	a.env = append(a.env, "ANTHROPIC_API_KEY="+key)
	// What it prints would be masked.
	o := a.play("yolo", bash(`env | grep -q `+key[2:]+` && echo its own variable is READ; cat /proc/$PPID/environ /proc/[0-9]*/environ 2>/dev/null | grep -qa `+key[2:]+` && echo the environment is READ
		cat /proc/$PPID/cmdline >/dev/null && echo the end; { : </proc/$PPID/mem; } 2>/dev/null && echo the memory is READ; readlink /proc/$PPID/fd/* && echo open files are READ; true`))
	result := o.result(1)
	if !strings.Contains(result, "the end") {
		a.Fatalf("the command did not run: %s", result)
	}
	if strings.Contains(result, "READ") {
		a.breach("%s", result)
	}
}
