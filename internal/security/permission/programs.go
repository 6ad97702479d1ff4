package permission

import "strings"

func set(lists ...string) map[string]bool {
	m := map[string]bool{}
	for _, list := range lists {
		for name := range strings.FieldsSeq(list) {
			m[name] = true
		}
	}
	return m
}

const (
	shellNames   = "sh bash dash ash zsh ksh mksh oksh csh tcsh fish nu elvish xonsh rbash pwsh powershell"
	wrapperNames = "env sudo doas su runuser pkexec timeout gtimeout nice ionice chrt taskset nohup setsid stdbuf unbuffer xargs parallel watch time " +
		"command builtin exec eval coproc busybox toybox chroot unshare nsenter bwrap firejail setpriv capsh flock script expect " +
		"systemd-run start-stop-daemon daemonize at batch strace ltrace perf valgrind catchsegv prlimit cgexec numactl ssh tmux screen " +
		"trap source . entr xvfb-run dbus-run-session caffeinate rlwrap winpty faketime fakeroot proot catatonit tini dumb-init " +
		"setarch linux32 linux64 sg gosu su-exec chronic runcon choom systemd-inhibit dbus-launch torsocks torify proxychains proxychains4 " +
		"cpulimit trickle chpst setuidgid softlimit hyperfine ld.so ld-linux.so.2 ld-linux-x86-64.so.2 ld-linux-aarch64.so.1"
	interpreterNames = "python pypy ipython perl ruby irb node nodejs deno bun tsx ts-node php lua luajit tclsh wish rscript r julia ghci runghc " +
		"java jshell groovy scala kotlin clojure elixir iex erl escript osascript awk gawk mawk nawk sed gsed ed ex vi vim nvim emacs gdb lldb"
	// They run what a file of the workspace, or a remote server, tells them to.
	runnerNames = "make gmake ninja just task rake npx pnpx bunx uvx pipx docker podman kubectl ftp crontab open xdg-open rsync scp dotnet " +
		"less more man nano sqlite psql mysql"
)

var (
	shells = set(shellNames)
	// carriers run the command in their arguments.
	carriers = set(shellNames, wrapperNames, "find fd fdfind")
	// readers are those carriers that parse a text as a shell does.
	readers = set(shellNames, "eval trap su sg runuser ssh hyperfine watch env script flock parallel tmux screen at batch xargs")
	// feeders append arguments to a command, from their input or from file names.
	feeders = set("xargs parallel find fd fdfind")
	// laters run the commands that they read later.
	laters = set("at batch")
	// namers define names for commands.
	namers = set("alias hash mapfile readarray complete compgen fc bind enable")
	// joiners join their arguments into one text.
	joiners = set("eval watch ssh")
	// powerful are programs that run arbitrary code: a rule that only names one of
	// them does not limit what happens.
	powerful = set(shellNames, wrapperNames, interpreterNames)
	runners  = set(runnerNames)
	awks     = set("awk gawk mawk nawk")
	wrappers = set(wrapperNames)
)

// isPowerful reports whether a program is powerful, by its name.
func isPowerful(name string) bool { return isOneOf(powerful, name) }

// isOneOf looks a program up by its name, without path and version: python3.12 is
// python.
func isOneOf(names map[string]bool, name string) bool {
	name = strings.TrimSuffix(program(name), ".exe")
	return names[name] || names[strings.TrimRight(name, "0123456789.-")]
}
