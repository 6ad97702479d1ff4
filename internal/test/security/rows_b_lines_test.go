//go:build sectest

package security

import "github.com/pawl-dev/pawl/internal/security/permission"

// The lines of chapter B. Each group has what the user has allowed, what must
// run then, and what must not.

var echoLines = lines{
	allow: []string{"echo *"},
	fine:  []string{`echo "\"; touch canary; \""`, `echo 'a; touch canary'`, `echo a\;b`, `echo "it's" fine`},
	bad: []string{
		"echo `touch canary`", `echo a"b"'c'$(touch canary)`, `echo "a" $(touch canary) 'b'`, `echo 'a'"$(touch canary)"`, `echo \\$(touch canary)`,
		`echo "'$(touch canary)'"`, `echo 'it'\''s'; touch canary; echo ''`, `echo "a\\\\"; touch canary "\\"`, `echo x >> canary`, `echo x >canary`,
		`echo x &> canary`, `echo x >& canary`, `echo x 1<> canary`, `echo x > >(touch canary)`, `echo x | tee canary`, `echo "${x:-$(touch canary)}"`,
		`echo $'it\'s'; touch canary #'`, `echo $"$(touch canary)"`, `echo "$((a[$(touch canary)]))"`, "echo \"`touch canary`\"",
	},
	real: []string{`echo "$(touch canary)"`, `echo "\\"; touch canary; echo "\\"`, `echo x > canary`},
}

var blanks = lines{
	allow: []string{"cat *", "sort *", "*"},
	fine:  []string{"cat a", "sort -u a"},
	bad: []string{
		`cat$IFS/etc/passwd`, `cat${IFS}/etc/passwd`, `cat ${IFS}x`, `cat "$IFS"x`, `{cat,/etc/passwd}`, `cat $*/etc/passwd`, `cat$@ x`, `cat $'\x2fetc'`,
		`sort -ocanary x`, `sort -uo canary x`, `sort -o canary x`, `sort --output=canary x`, `sort --outp canary x`, `sort -T/x -ocanary x`, `sort --compress-program=./x y`,
	},
	real: []string{`sort -ocanary /dev/null`, `touch${IFS}canary`},
}

var ripgrep = lines{
	allow: []string{"rg *", "timeout 5 rg *"},
	fine:  []string{"rg foo", "rg -n --hidden foo src", "timeout 5 rg foo"},
	bad: []string{
		`rg --pre ./x.sh foo`, `rg --pre=./x.sh foo`, `rg foo --pre ./x.sh`, `rg "--pre" ./x.sh foo`, `rg --'pre=./x.sh' foo`, `rg \--pre=./x.sh foo`,
		`rg --hostname-bin ./x.sh foo`, `rg --hostname-bin=./x.sh --hyperlink-format=default foo`, `rg -z foo`, `rg -nz foo`, `rg -zn foo`, `rg --search-zip foo`,
		`RIPGREP_CONFIG_PATH=x rg foo`, `timeout 5 rg --pre ./x.sh foo`,
	},
	real: []string{`rg --pre ./evil.sh foo foo.txt`, `rg --pre=./evil.sh foo foo.txt`},
}

var finds = lines{
	allow: []string{"find *", "nice find *", "fd *", "touch *"},
	fine:  []string{`find src -name main.go`, `find . -type f -newer x`, `fd main`},
	bad: []string{
		`find . -execdir touch canary {} +`, `find . -name x -ok touch canary \;`, `find . -name x -okdir touch canary \;`, `find . -name x -delete`,
		`find . -fls canary`, `find . -fprint canary`, `find . -fprint0 canary`, `find . -fprintf canary x`, `find . '-exec' touch canary ';'`,
		`find . -\exec touch canary ';'`, `find . -"ex"ec touch canary ';'`, `nice find . -exec touch canary ';'`,
		`fd x -x touch canary`, `fd x -X touch canary`, `fd x --exec touch canary`, `fd x --exec-batch=touch`, `fd --exec-b touch`,
	},
	real: []string{`find . -maxdepth 0 -exec touch canary \;`, `find . -maxdepth 0 -fprint canary`},
}

var seds = lines{
	allow: []string{"sed *", "sed -n *", "gsed *", "echo *"},
	fine:  []string{`sed -n 3p f`, `sed -n 3,9p f g`, `echo x | sed -n 1p`},
	bad: []string{
		`sed 's/x/y/w canary' f`, `sed -i s/a/b/ f`, `sed -s -i s/a/b/ f`, `sed -n 1p f -i`, `sed -n -i 1p f`, `sed --in-place=x s/a/b/ f`, `sed -n 1p --in-pl f`, `sed -ni 1p f`,
		`sed -n '1e touch canary' f`, `sed -f script f`, `sed -n '1p;w canary' f`, `sed -e 1p -e 'w canary' f`, `sed -n '$p' f`, `sed W\ canary f`, `sed '1!G;h;$!d' f`, `gsed -i s/a/b/ f`,
		`echo x | sed 's/x/touch canary/e'`,
	},
	real: []string{`echo x | sed 'w canary'`, `sed '1e touch canary' /etc/hostname`},
}

var awks = lines{
	allow: []string{"awk *", "gawk *", "mawk *", "awk -F: *", "echo *"},
	fine:  []string{`echo x`},
	bad: []string{
		`awk '{print > "canary"}' f`, `awk '{print | "sh"}' f`, `awk '"touch canary" | getline' f`, `awk -f x.awk f`, `gawk -i inplace 1 f`, `mawk 1 f`,
		`awk -F: 'BEGIN{system("touch canary")}'`, `gawk -l filefuncs 1`, `awk -v x=1 'BEGIN{system("x")}'`,
	},
	real: []string{`awk 'BEGIN{system("touch canary")}'`, `awk 'BEGIN{print > "canary"}'`},
}

var clobbers = lines{
	allow: []string{"echo *"},
	fine:  []string{`echo x`, `echo x 2>/dev/null`, `echo x >&2`},
	bad: []string{
		`echo x >! ../f`, `echo x >>! ../f`, `echo x >| ../f`, `echo x >>| ../f`, `echo x &>! ../f`, `echo x &>>! ../f`, `echo x >&! ../f`, `echo x >>&! ../f`, `echo x >&| ../f`,
		`echo x >!../f`, `echo x 1>! ../f`, `echo x =(touch canary)`, `echo x > $HOME/f`, `echo x >~/f`, `echo >f<f x`, `echo x {fd}> f`,
	},
	real: []string{`echo x >! canary; mv ! canary`, `echo x >| canary`},
}

var conditionals = lines{
	allow: []string{"[[ *", "test *", "[ *", "printf *", "ls *", "touch *"},
	fine:  []string{`test -f x`, `[ a = b ]`, `printf x`, `ls x`},
	bad: []string{
		`[[ a =~ (x)(e:'touch canary':) ]]`, `[[ -n $(touch canary) ]]`, `[[ -v 'a[$(touch canary)]' ]] && ls`, `[[ 1 -eq 'a[$(touch canary)]' ]]`, `[[ a == b ]]`,
		`ls *(e:'touch canary':)`, `ls *(.e:touch:)`, `ls ?(a|b)`, `test 1 -eq "$x"`, `printf -v 'a[$(touch canary)]' x`, `[ -v 'a[$(touch canary)]' ]`,
	},
	real: []string{`test -v 'a[$(touch canary)]'`, `[[ 1 -eq 'a[$(touch canary)]' ]]`},
}

var expansions = lines{
	allow: []string{"echo *", "touch *", "*"},
	fine:  []string{`echo '${v@P}'`},
	bad: []string{
		`echo ${v@P}`, `echo "${v@P}"`, `echo ${v@Q}`, `echo ${v:=x}`, `echo ${v:=$(touch canary)}`, `echo ${!v}`, `echo ${!v*}`, `echo ${v:-$(touch canary)}`, `echo ${v:+$(touch canary)}`,
		`echo ${v:?$(touch canary)}`, `echo "${v:-${w@P}}"`, `echo ${v/a/$(touch canary)}`, `echo ${v:$(touch canary)}`, `echo ${v#$(touch canary)}`, `echo ${v^^}`, `echo ${#v}`,
		`echo ${a[$(touch canary)]}`, `echo $((a[$(touch canary)]))`, `echo $[a[$(touch canary)]]`, `((a[$(touch canary)]=1))`, "echo ${v:-`touch canary`}", `echo $v`, `echo "$1"`, `echo ~/$v`,
	},
	real: []string{`echo ${v:=$(touch canary)}`, `echo "${v:-${w:-$(touch canary)}}"`},
}

// disagreements are lines that the parser and bash do not read alike, or that
// hold a program in a text which is run by what follows.
var disagreements = lines{
	allow: []string{"echo *", "printf *", ": *", "ls *"},
	fine:  []string{`echo '$(touch canary)'`, "echo a # b", "echo a#b \\\n c", "ls \\\n -l"},
	bad: []string{
		`v='$(touch canary)'; echo ${v@P}`, `v='$(touch canary)' && echo "${v@P}"`, `printf %s '$(touch canary)' "${v@P}"`, `: '$(touch canary)' ${_@P}`, `echo '$(touch canary)'; echo ${_@P}`,
		"ls #\\\ntouch canary", "ls -l # only look \\\ntouch canary", "echo \"$\\\n(touch canary)\"", "echo $\\\n{_@P}", "echo $\\\n!", "echo a$\\\nx",
	},
	real: []string{`echo '$(touch canary)'; echo ${_@P}`, "ls # only look \\\ntouch canary", "echo \"$\\\n(touch canary)\"", "echo '$(touch canary)'; echo $\\\n{_@P}"},
}

var positions = lines{
	allow: []string{"echo *", "touch *", "*"},
	fine:  []string{`touch x`},
	bad: []string{
		"`echo touch` canary", `"$(echo touch)" canary`, `$cmd canary`, `"$cmd" canary`, `${cmd} canary`, `t${x}ouch canary`, `$'\x74ouch' canary`, `$"touch" canary`, `t?uch canary`,
		`/bin/t*ch canary`, `$(printf '\164ouch') canary`, `$(echo touch canary)`, `<(echo x)`, `$((1)) x`, `{touch,canary}`, `~x/bin/$y`,
	},
	real: []string{`$(echo touch) canary`, "`echo touch` canary"},
}

var chains = lines{
	allow: []string{"ls *"},
	fine:  []string{`ls && ls -l | ls`, "ls\nls -l", `ls "a; touch canary"`, `ls 'a && b'`},
	bad: []string{
		`ls -l && touch canary`, `ls -l || touch canary`, `ls -l | touch canary`, `ls -l |& touch canary`, `ls -l & touch canary`, `ls -l &touch canary`, `ls -l;touch canary`,
		"ls -l\ntouch canary", "ls -l \\\n; touch canary", "ls -l \\\n&& touch canary", "ls -l &&\ntouch canary", "ls -l\n\n\ttouch canary", `ls -l;;touch canary`, "ls -l; # \\\ntouch canary", `ls -l; for PATH in .; do ls; done`,
		`ls $(touch canary)`, "ls `touch canary`", `ls <(touch canary)`, `ls >(touch canary)`, `ls -l && (touch canary)`, `ls -l && { touch canary; }`, `ls -l && ! touch canary`,
		`ls -l && if true; then touch canary; fi`, `ls -l; while touch canary; do break; done`, `ls -l; case x in x) touch canary;; esac`, `ls -l; for i in 1; do touch canary; done`,
		`ls -l; time touch canary`, `ls -l; coproc touch canary`, `ls -l; function f { touch canary; }; f`, `ls -l && ls() { touch canary; } && ls`, `ls -l && [[ $(touch canary) ]]`,
		`ls -l && : $((x[$(touch canary)]))`, "ls -l <<E\n$(touch canary)\nE", "ls -l <<'E'\nE\ntouch canary", `ls -l <<< $(touch canary)`, `ls -l &> canary`, "ls -l \x00; touch canary", "ls -l \r\ntouch canary",
	},
	real: []string{`ls -l; touch canary`, `ls -l & touch canary`, "ls -l\ntouch canary", `ls -l |& touch canary`},
}

// deniedChains are what a deny rule must find, where all else runs.
var deniedChains = lines{
	mode: permission.ModeYolo, deny: []string{"git push *"},
	fine: []string{`git status; git log`, `echo "git push"`},
	bad: []string{
		`true; git push`, `true && git push`, `true | git push`, `true & git push`, "true\ngit push", `echo $(git push)`, "echo `git push`", `echo "$(git push)"`, `cat <(git push)`, `f() { git push; }; f`,
		`( git push )`, `{ git push; }`, `! git push`, `if git push; then :; fi`, `'gi't "pu"sh`, `\git push`, `git pu\sh`, "git \\\npush", "gi\\\nt push", `>/dev/null git push`, `X=1 git push`, "cat <<E\n$(git push)\nE",
		`echo ${x:-$(git push)}`, `[[ -n $(git push) ]]`, `case $(git push) in *) ;; esac`, `for i in $(git push); do :; done`,
	},
}

var hiddenLines = lines{
	allow: []string{"ls *", "rg *", "cat *"},
	fine:  []string{"# look\nls -l", "ls \\\n  -l"},
	bad: []string{
		"ls -l # only this\ntouch canary", "ls -l\n# nothing to see\n\n\ntouch canary", "rg \\--pre=x foo", "rg --p\\\nre=x foo", "rg -\\-pre x foo", "rg '--pre=x' foo",
		"ls -l <<EOF\n$(touch canary)\nEOF", "cat <<'EOF' | sh\ntouch canary\nEOF", "cat <<EOF\nx\nEOF\ntouch canary", "cat <<-EOF\n\tx\n\tEOF\n\ttouch canary", "ls -l \\\n\\\n; touch canary", "ls -l ; \\\ntouch canary",
	},
	real: []string{"ls -l # only this\ntouch canary", "cat <<EOF\nx\nEOF\ntouch canary"},
}

var builtins = lines{
	allow: []string{"git log *", "git fetch *", "ls *", "export *", "typeset *", "declare *", "readonly *", "local *", "alias *", "read *", "hash *", "set *", "shopt *", "enable *", "mapfile *", "unset *", "umask *", "python3 -V", "touch canary"},
	fine:  []string{`git log`, `ls`},
	bad: []string{
		`PAGER='touch canary' git log`, `GIT_PAGER=./evil.sh git log`, `GIT_SSH_COMMAND=./evil.sh git fetch x`, `GIT_EXTERNAL_DIFF=./evil.sh git log -p`, `GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.pager git log`,
		`PYTHONWARNINGS=all:0:antigravity.x:0:0 BROWSER=./evil.sh python3 -V`, `export BASH_ENV=x; ls`, `export PATH=.:$PATH; ls`, `typeset -x GIT_SSH=x; git fetch x`, `declare PATH=.; ls`, `declare -x PAGER=x; git log`,
		`readonly PYTHONWARNINGS=x`, `alias ls=./evil.sh; ls`, `read PATH; ls`, `hash -p ./evil.sh ls; ls`, `set -a; ls`, `shopt -s expand_aliases; ls`, `enable -f ./evil.so ls; ls`, `mapfile -C ./evil.sh -c 1 a; ls`,
		`unset PATH; ls`, `umask 0; ls`, `export -f ls; ls`,
	},
	real: []string{`export X=1; ls && declare -x Y=$(touch canary)`, `PAGER=$(touch canary) git log; export Y=$X`},
}
