package permission

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// bashLines run, or do not run, the program mark.
var bashLines = []string{
	"ls #\\\nmark", "echo ${x:-<(mark)}", "echo \"${x:-<(mark)}\"", "echo ${x:->(mark)}", "echo ${x:-a<(mark)}", "echo ${x/a/<(mark)}",
	"x=a;echo ${x/a/<(mark)}", "echo ${x:-$<(mark)}", "a=(1)#; mark", "a[1]=2#; mark", "x=(<(mark))", "[[ a == <(mark) ]]", "echo $[ $(mark) ]",
	"echo ${x:-`mark`}", "echo ${x:-\"`mark`\"}", "cat <<E\n${x:-`mark`}\nE\n", "cat <<E\n$\\\n(mark)\nE\n", "cat <<E\n<(mark)\nE\n",
	"case <(mark) in *) ;; esac", "for i in <(mark); do :; done", "echo a<(mark)", "echo $<(mark)", "echo {<(mark),a}", "declare x=<(mark)",
	"echo @(a|<(mark))", "shopt -s extglob\necho @($(mark))", "echo *(`mark`)", "((`mark`))", "let x=`mark`", "echo ${x#<(mark)}", "echo ${x[<(mark)]}",
	"echo ${x:0:`mark`}", "echo \"$((`mark`))\"", "cat <<$(mark)\nx\n$(mark)\n", "cat <<`x`\n$(mark)\n`x`\n", "ls # a \\\nmark", "#\\\nmark",
	"ls; #\\\n\\\nmark", "cat <<'E'\nx\\\nE\nmark\n", "cat <<E\nx\\\nE\nmark\n", "cat <<E\nx\\\\\nE\nmark\n", "cat <<'E'\nx\nE\\\n\nmark\nE\n",
	"cat <<'E'\nx\nE\\\nF\nmark\nE\n", "cat <<E\\\nF\nx\nEF\nmark\n", "echo 'a\\\n' mark '\\\nb'", "echo 'a\\\n'; mark", "echo $'a\\\n'; mark",
	"echo $'a\\'; mark '", "echo $'a\\\\'; mark ''", "echo \"a\\\n\"; mark", "echo a\\\n#b; mark", "echo \\\n#b; mark", "echo \\\n # b; mark",
	"echo `echo #\\\nmark`", "echo `echo # ` ; mark", "echo $(echo # )\nmark\n)", "echo $(echo #\\\nmark\n)", "echo ${x#\\\nmark}", "echo ${x:-#}; mark",
	"echo a#b; mark", "echo a;#b\\\nmark", "(#\\\nmark\n)", "{ #\\\nmark\n}", "if true; then #\\\nmark\nfi", "case x in #\\\nx) mark;; esac",
	"case x in x) #\\\nmark;; esac", "true && #\\\nmark", "true | #\\\nmark", "a=( #\\\n$(mark)\n)", "[[ a == #\\\n$(mark) ]]", "[[ x =~ a#b ]] && mark",
	"echo $((1 #\\\n+ $(mark)))", "echo \"$(cat <<'E'\n\\\nE\nmark\n)\"", "cat <<-'E'\n\tx\\\n\tE\n\tmark\n", "cat <<\"E\"\nx\\\nE\nmark\n",
	"cat <<\\E\nx\\\nE\nmark\n", "cat <<'E' #\\\nmark\nE\nmark\n", "cat <<E; #\\\nx\nE\nmark\n", "echo \\\\\nmark", "echo \\\\\\\nmark",
	"echo <<<a\\\nmark", "echo <<<'a\\\n'mark", "echo a &>#\\\nmark", "echo 'x' \\#\\\nmark", "ma\\\nrk", "echo '#\\\n'; mark", "echo \"#\\\n\"; mark",
	"cat <<'E '\nx\nE \nmark\n", "cat <<''\nx\n\nmark\n", "cat <<E\n$(echo '\nE\n'; mark)\nE\n", "cat <<E\n`mark`\nE", "cat <<'E'\n`mark`\nE",
	"echo ${x:-'a}'; mark; echo '}'}", "echo \"${x:-'a}\"; mark; echo \"'}\"", "echo \"${x:-\"a}\"; mark; \"}\"", "echo $[1]; mark", "echo $[$(mark)]",
	"echo {a,b}; mark", "echo \"`mark`\"", "echo \"\\`mark\\`\"", "echo '`mark`'", "coproc mark; wait", "function mark2 { mark; }; mark2",
	"select x in a; do mark; break; done <<< 1", "time -p mark", "! ! mark", "mark &\nwait", "a=1 mark", "a=(1 2) mark", "> /dev/null mark",
	"{v}>/dev/null mark", "echo $(<x) ; mark", "until mark; do :; done", "for ((i=0;i<1;i++)); do mark; done", "for ((i=$(mark);i<1;i++)); do :; done",
	"for i in $(mark); do :; done", "[[ -v a[$(mark)] ]]", "let 'a[$(mark)]=1'", "echo ${a[$(mark)]}", "echo ${!x$(mark)}", "declare -a 'x=($(mark))'",
	"shopt -s expand_aliases\nalias q=mark\nq", "echo <(mark); wait", "mark|:", "mark|&:", ":||:;mark", "false&&:||mark", ": ;;\nmark", "x(){ mark; };x",
	"case a in a) : ;& b) mark;; esac", "case a in a) : ;;& *) mark;; esac", "if false; then :; elif mark; then :; fi", "echo \"$(mark)\"",
	"echo $'\\x24(mark)'", "echo $\"$(mark)\"", "eval mark", "bash -c mark", "trap mark EXIT", ". <(echo mark)", "printf -v 'a[$(mark)]' x",
	"test -v 'a[$(mark)]'", "x='a[$(mark)]'; echo $((x))", "echo ${x:=$(mark)}", "echo ${x/a/$(mark)}", "x=a; echo ${x/a/$(mark)}", "echo ${x:$(mark)}",
	"x='$(mark)'; echo ${x@P}", "set -- '$(mark)'; echo ${1@P}", "PS4='$(mark)'; set -x; :", "PROMPT_COMMAND=mark", "BASH_ENV=<(echo mark) bash -c :",
	"exec mark", "command mark", "builtin eval mark", "hash -p $PWD/mark zz; zz", "enable -f x mark", "mapfile -C mark -c 1 a <<< x",
	"readarray -C mark -c 1 a <<< x", "complete -C mark x; compgen -C mark", "getopts a mark; mark", "wait -p 'a[$(mark)]' -n", "read 'a[$(mark)]' <<< x",
	"unset 'a[$(mark)]'", "a=(1); unset 'a[$(mark)]'", "export 'a[$(mark)]=1'", "[ -v 'a[$(mark)]' ]", "[ 1 -eq 'a[$(mark)]' ]",
	"[[ 1 -eq 'a[$(mark)]' ]]", "[ -t 'a[$(mark)]' ]", "test 1 -eq 'a[$(mark)]'", "(( 'a[$(mark)]' ))", "kill -s 'a[$(mark)]' 1",
	"ulimit -n 'a[$(mark)]'", "printf %d 'a[$(mark)]'", "shift 'a[$(mark)]'", "exit 'a[$(mark)]'", "return 'a[$(mark)]'", "history -s mark; fc -s",
	"bind -x '\"a\":mark'", "umask 'a[$(mark)]'", "cd 'a[$(mark)]'", "local 'a[$(mark)]'", "echo ~$(mark)", "~/../mark",
}

// unseen are those whose program a rule that denies does not find. Nothing
// allows them either: they are asked for where the mode does.
var unseen = map[string]bool{
	"declare -a 'x=($(mark))'":        true,
	"PS4='$(mark)'; set -x; :":        true,
	"BASH_ENV=<(echo mark) bash -c :": true,
}

// TestReadsAsBash runs lines in bash: one that runs a program which needs a
// question, or is denied, must not pass for one that does not.
func TestReadsAsBash(t *testing.T) {
	t.Parallel()
	asks := Policy{Mode: ModeAsk, Sandboxed: true, Dir: "/w", Home: "/h", Rules: []Rule{
		{Tool: "bash", Pattern: "*", Decision: Allow, Origin: OriginUser}, {Tool: "bash", Pattern: "mark *", Decision: Ask, Origin: OriginUser},
	}}
	denies := Policy{Mode: ModeYolo, Dir: "/w", Home: "/h", Rules: []Rule{{Tool: "bash", Pattern: "mark *", Decision: Deny, Origin: OriginUser}}}
	ran := 0
	for _, line := range bashLines {
		if !runsMark(t, line) {
			continue
		}
		ran++
		if v := Decide(asks, bash(line)); v.Decision == Allow {
			t.Errorf("%q runs mark, and is allowed: %s", line, v.Why)
		}
		if v := Decide(denies, bash(line)); (v.Decision == Allow) != unseen[line] {
			t.Errorf("%q runs mark, which is denied: %s: %s", line, v.Decision, v.Why)
		}
	}
	if ran < 100 {
		t.Errorf("only %d lines run mark: is there a bash?", ran)
	}
}

// runsMark reports whether bash runs mark for a line.
func runsMark(t *testing.T, line string) bool {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "mark"), []byte("#!/bin/sh\n: > "+dir+"/marked\n"), 0o700); err != nil { //nolint:gosec // it is run
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "bash", "-c", line)
	cmd.Dir, cmd.Env = dir, []string{"PATH=" + dir + ":/usr/bin:/bin", "HOME=" + dir}
	cmd.Stderr = io.Discard // Run waits for all that holds it, in the background too
	_ = cmd.Run()           // many fail
	_, err := os.Stat(filepath.Join(dir, "marked"))
	return err == nil
}
