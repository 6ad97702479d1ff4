package permission

import (
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

// hostile is a command line that was used, or could be, to get past a
// permission check; and what stands in its way.
type hostile struct {
	id      string // the row of the corpus
	command string
	mode    Mode     // "" means ask
	boxed   bool     // in a sandbox
	allow   []string // what the user's rules allow
	deny    []string // what they deny
	want    Decision
}

var hostiles = []hostile{
	// A program that only prints is allowed; the line makes it do more.
	{id: "B1", command: `echo "$(touch canary)"`, allow: []string{"echo *", "touch *"}, want: Ask},
	{id: "B1", command: "echo `id`", allow: []string{"echo *", "id"}, want: Ask},
	{id: "B1", command: `echo "a"'b'$(id)`, allow: []string{"echo *", "id"}, want: Ask},
	{id: "B1", command: `echo "\"; touch canary; \""`, allow: []string{"echo *"}, want: Allow}, // it is quoted
	{id: "B1", command: `echo "\\"; touch canary; echo "\\"`, allow: []string{"echo *"}, want: Ask},
	{id: "B1", command: `echo x > canary`, allow: []string{"echo *"}, want: Ask},

	{id: "B2", command: `cat$IFS/etc/passwd`, allow: []string{"cat *"}, want: Ask},
	{id: "B2", command: `cat ${IFS}x`, allow: []string{"cat *"}, want: Ask},
	{id: "B2", command: `sort -ocanary x`, allow: []string{"sort *"}, want: Ask},
	{id: "B2", command: `sort -uo canary x`, allow: []string{"sort *"}, want: Ask},
	{id: "B2", command: `{cat,/etc/passwd}`, allow: []string{"cat *"}, want: Ask},

	{id: "B3", command: `rg --pre ./x.sh foo`, allow: []string{"rg *"}, want: Ask},
	{id: "B3", command: `rg --pre=./x.sh foo`, allow: []string{"rg *"}, want: Ask},
	{id: "B3", command: `rg --hostname-bin ./x.sh foo`, allow: []string{"rg *"}, want: Ask},
	{id: "B3", command: `rg -z foo`, allow: []string{"rg *"}, want: Ask},
	{id: "B3", command: `rg -nz foo`, allow: []string{"rg *"}, want: Ask},
	{id: "B3", command: `RIPGREP_CONFIG_PATH=x rg foo`, allow: []string{"rg *"}, want: Ask},
	{id: "B3", command: `rg foo`, allow: []string{"rg *"}, want: Allow},

	{id: "B4", command: `find . -exec touch canary \;`, allow: []string{"find *", "touch *"}, want: Ask},
	{id: "B4", command: `find . -execdir x {} +`, allow: []string{"find *"}, want: Ask},
	{id: "B4", command: `find . -name x -delete`, allow: []string{"find *"}, want: Ask},
	{id: "B4", command: `find . -fprintf canary x`, allow: []string{"find *"}, want: Ask},
	{id: "B4", command: `find . -ok x \;`, allow: []string{"find *"}, want: Ask},
	{id: "B4", command: `find . -fls canary`, allow: []string{"find *"}, want: Ask},
	{id: "B3", command: `timeout 5 rg --pre ./x.sh foo`, allow: []string{"timeout 5 rg *"}, want: Ask},
	{id: "B3", command: `timeout 5 rg foo`, allow: []string{"timeout 5 rg *"}, want: Allow},
	{id: "B4", command: `sudo python x`, allow: []string{"sudo python *"}, want: Ask},
	{id: "B4", command: `find . -name '*.go'`, allow: []string{"find . -name *"}, want: Allow},

	{id: "B5", command: `sed 's/x/y/e' f`, allow: []string{"sed *"}, want: Ask},
	{id: "B5", command: `sed '1w canary' f`, allow: []string{"sed *"}, want: Ask},
	{id: "B5", command: `sed -s -i s/a/b/ f`, allow: []string{"sed *"}, want: Ask},
	{id: "B5", command: `sed -n 1p f -i`, allow: []string{"sed *"}, want: Ask},
	{id: "B5", command: `echo x | sed 'w canary'`, allow: []string{"sed *", "echo *"}, want: Ask},
	{id: "B5", command: `sed -n 3,9p f`, allow: []string{"sed *"}, want: Allow},

	{id: "B6", command: `awk 'BEGIN{system("id")}'`, allow: []string{"awk *"}, want: Ask},
	{id: "B6", command: `awk '{print > "canary"}' f`, allow: []string{"awk *"}, want: Ask},
	{id: "B5", command: `gsed -i s/a/b/ f`, allow: []string{"gsed *"}, want: Ask},
	{id: "B6", command: `awk -F: 'BEGIN{system("id")}'`, allow: []string{"awk -F: *"}, want: Ask},
	{id: "B6", command: `awk '{print $1}' f`, allow: []string{"awk '{print $1}' *"}, want: Allow},
	{id: "B6", command: `gawk 1 f`, allow: []string{"gawk *"}, want: Ask},

	{id: "B7", command: `echo x >! ../f`, allow: []string{"echo *"}, want: Ask},
	{id: "B7", command: `echo x >>! ../f`, allow: []string{"echo *"}, want: Ask},
	{id: "B7", command: `echo x >| ../f`, allow: []string{"echo *"}, want: Ask},
	{id: "B7", command: `echo x &>! ../f`, allow: []string{"echo *"}, want: Ask},

	{id: "B8", command: `[[ a =~ (x)(e:'id':) ]]`, allow: []string{"[[ *", "id"}, want: Ask},
	{id: "B8", command: `ls *(e:'id':)`, allow: []string{"ls *"}, want: Ask},
	{id: "B8", command: `[[ -v 'a[$(id)]' ]] && ls`, allow: []string{"ls *", "[[ *"}, want: Ask},
	{id: "B8", command: `test -v 'a[$(id)]'`, allow: []string{"test *"}, want: Ask},
	{id: "B8", command: `printf -v 'a[$(id)]' x`, allow: []string{"printf *"}, want: Ask},

	{id: "B9", command: `echo ${v@P}`, allow: []string{"echo *"}, want: Ask},
	{id: "B9", command: `echo ${v:=$(id)}`, allow: []string{"echo *", "id"}, want: Ask},
	{id: "B9", command: `echo ${!v}`, allow: []string{"echo *"}, want: Ask},
	{id: "B9", command: `echo "${v:-${w@P}}"`, allow: []string{"echo *"}, want: Ask},
	{id: "B9", command: `echo $((a[$(id)]))`, allow: []string{"echo *", "id"}, want: Ask},
	{id: "B9", command: `((a[$(id)]=1))`, allow: []string{"id"}, want: Ask},

	{id: "B10", command: `v='$(id)'; echo ${v@P}`, allow: []string{"echo *"}, want: Ask},
	{id: "B10", command: `printf '%s' '$(id)' "${v@P}"`, allow: []string{"printf *"}, want: Ask},
	{id: "B10", command: `: '$(id)' ${_@P}`, allow: []string{": *"}, want: Ask},

	// The parser reads it in one way, bash in another.
	{id: "B10", command: "ls # look \\\ntouch canary", allow: []string{"ls *"}, want: Ask},
	{id: "B10", command: "echo \"$\\\n(touch canary)\"", allow: []string{"echo *"}, want: Ask},
	{id: "B10", command: "echo '$(id)'; echo $\\\n{_@P}", allow: []string{"echo *"}, want: Ask},
	{id: "B10", command: "a=(1)#; rm x", mode: ModeYolo, deny: []string{"rm *"}, want: Ask},
	{id: "B10", command: "<<'E'# rm x\nE\n", mode: ModeYolo, deny: []string{"rm *"}, want: Ask},
	{id: "B10", command: "echo ${x:-$<(rm x)}", mode: ModeYolo, deny: []string{"rm *"}, want: Ask},
	{id: "B10", command: "[[ a == @($(rm x)) ]]", mode: ModeYolo, deny: []string{"rm *"}, want: Ask},
	{id: "B10", command: "echo ${x/a/<(rm x)}", mode: ModeYolo, deny: []string{"rm *"}, want: Ask},
	{id: "B10", command: "ls \\\n # look\nls", allow: []string{"ls *"}, want: Allow},
	{id: "B10", command: "ls a#b 'c # d' \\\n -l", allow: []string{"ls *"}, want: Allow},
	{id: "B10", command: "echo ${x#$(id)} \\\n y", mode: ModeYolo, deny: []string{"rm *"}, want: Allow},

	{id: "B11", command: `$(echo touch) canary`, allow: []string{"echo *", "touch *"}, want: Ask},
	{id: "B11", command: "`echo touch` canary", allow: []string{"echo *", "touch *"}, want: Ask},
	{id: "B11", command: `"$cmd" canary`, allow: []string{"*"}, want: Ask},
	{id: "B11", command: `t${x}ouch canary`, allow: []string{"touch *"}, want: Ask},
	{id: "B11", command: `$'\x74ouch' canary`, allow: []string{"touch *"}, want: Ask},

	{id: "B12", command: `ls; touch canary`, allow: []string{"ls *"}, want: Ask},
	{id: "B12", command: `ls && touch canary`, allow: []string{"ls *"}, want: Ask},
	{id: "B12", command: `ls || touch canary`, allow: []string{"ls *"}, want: Ask},
	{id: "B12", command: `ls | touch canary`, allow: []string{"ls *"}, want: Ask},
	{id: "B12", command: `ls |& touch canary`, allow: []string{"ls *"}, want: Ask},
	{id: "B12", command: `ls & touch canary`, allow: []string{"ls *"}, want: Ask},
	{id: "B12", command: "ls\ntouch canary", allow: []string{"ls *"}, want: Ask},
	{id: "B12", command: "ls \\\n; touch canary", allow: []string{"ls *"}, want: Ask},
	{id: "B12", command: "ls \\\r\ntouch canary", allow: []string{"ls *"}, want: Ask},
	{id: "B12", command: `(ls; touch canary)`, allow: []string{"ls *"}, want: Ask},
	{id: "B12", command: `{ ls; touch canary; }`, allow: []string{"ls *"}, want: Ask},
	{id: "B12", command: `if ls; then touch canary; fi`, allow: []string{"ls *"}, want: Ask},
	{id: "B12", command: `while ls; do touch canary; done`, allow: []string{"ls *"}, want: Ask},
	{id: "B12", command: `case x in x) touch canary;; esac`, allow: []string{"ls *"}, want: Ask},
	{id: "B12", command: `! touch canary`, allow: []string{"ls *"}, want: Ask},
	{id: "B12", command: `time touch canary`, allow: []string{"ls *", "time *"}, want: Ask},
	{id: "B12", command: `ls <(touch canary)`, allow: []string{"ls *"}, want: Ask},
	{id: "B12", command: `for PATH in /evil; do ls; done`, allow: []string{"ls *"}, want: Ask},
	{id: "B12", command: `ls() { touch canary; }; ls`, allow: []string{"ls *"}, want: Ask},
	{id: "B12", command: `ls && ls -l | ls`, allow: []string{"ls *"}, want: Allow},

	{id: "B13", command: "ls # only this\ntouch canary", allow: []string{"ls *"}, want: Ask},
	{id: "B13", command: "# nothing to see\ntouch canary", allow: []string{"ls *"}, want: Ask},
	{id: "B13", command: "ls <<EOF\n$(touch canary)\nEOF", allow: []string{"ls *", "cat *"}, want: Ask},
	{id: "B13", command: `rg \--pre=x foo`, allow: []string{"rg *"}, want: Ask},
	{id: "B13", command: "rg --p\\\nre=x foo", allow: []string{"rg *"}, want: Ask},
	{id: "B13", command: "ls \u202e; touch canary", allow: []string{"ls *", "touch *"}, want: Ask},
	{id: "B13", command: "ls\u00a0x", allow: []string{"*"}, want: Ask},

	{id: "B14", command: `PAGER='touch canary' git log`, allow: []string{"git log *"}, want: Ask},
	{id: "B14", command: `export BASH_ENV=x; ls`, allow: []string{"ls *", "export *"}, want: Ask},
	{id: "B14", command: `typeset -x GIT_SSH=x; git fetch`, allow: []string{"git *", "typeset *"}, want: Ask},
	{id: "B14", command: `declare PATH=.; ls`, allow: []string{"ls *", "declare *"}, want: Ask},
	{id: "B14", command: `readonly PYTHONWARNINGS=x`, allow: []string{"readonly *"}, want: Ask},
	{id: "B14", command: `alias ls=x; ls`, allow: []string{"ls *", "alias *"}, want: Ask},
	{id: "B14", command: `read PATH; ls`, allow: []string{"ls *", "read *"}, want: Ask},
	{id: "B14", command: `eval ls`, allow: []string{"ls *", "eval *"}, want: Ask},

	{id: "B14", command: `printf -v PATH /evil; ls`, allow: []string{"ls *", "printf *"}, want: Ask},
	{id: "B14", command: `hash -p /evil ls; ls`, allow: []string{"ls *", "hash *"}, want: Ask},
	{id: "B14", command: `compgen -W '$(id)'`, allow: []string{"compgen *"}, want: Ask},

	{id: "B15", command: `LD_PRELOAD=x ls`, allow: []string{"ls *"}, want: Ask},
	{id: "B15", command: `X=1`, allow: []string{"*"}, want: Ask},
	{id: "B15", command: `GIT_DIR=/x git status`, allow: []string{"git status"}, want: Ask},
	{id: "B15", command: `{fd}>/dev/null ls`, allow: []string{"ls *"}, want: Ask},

	{id: "B16", command: `git -c core.pager=x log`, allow: []string{"git *"}, want: Ask},
	{id: "B16", command: `git -ccore.pager=x log`, allow: []string{"git *"}, want: Ask},
	{id: "B16", command: `git --config-env=core.pager=X log`, allow: []string{"git *"}, want: Ask},
	{id: "B16", command: `git --exec-path=x log`, allow: []string{"git *"}, want: Ask},
	{id: "B16", command: `git --git-dir x log`, allow: []string{"git *"}, want: Ask},
	{id: "B16", command: `git --work-tree=/ checkout x`, allow: []string{"git *"}, want: Ask},
	{id: "B16", command: `git -C /x log`, allow: []string{"git *"}, want: Ask},
	{id: "B16", command: `git log --output=canary`, allow: []string{"git log *"}, want: Ask},
	{id: "B16", command: `git archive -o canary HEAD`, allow: []string{"git archive *"}, want: Ask},
	{id: "B16", command: `git log --ext-diff`, allow: []string{"git log *"}, want: Ask},
	{id: "B16", command: `git diff --textconv`, allow: []string{"git diff *"}, want: Ask},
	{id: "B16", command: `git branch -D main`, allow: []string{"git branch *"}, want: Ask},
	{id: "B16", command: `git branch -d main`, allow: []string{"git branch *"}, want: Ask},
	{id: "B16", command: `git push origin +main`, allow: []string{"git push *"}, want: Ask},
	{id: "B16", command: `git push -f`, allow: []string{"git push *"}, want: Ask},
	{id: "B16", command: `git push origin :main`, allow: []string{"git push *"}, want: Ask},
	{id: "B16", command: `git rebase -x id`, allow: []string{"git rebase *"}, want: Ask},
	{id: "B16", command: `git bisect run id`, allow: []string{"git *"}, want: Ask},
	{id: "B16", command: `git archive -o canary x`, allow: []string{"git archive *"}, want: Ask},
	{id: "B16", command: `git config --get x`, allow: []string{"git config *"}, want: Allow},
	{id: "B16", command: `git log --oneline`, allow: []string{"git log *"}, want: Allow},

	{id: "B17", command: `git -c alias.x='!touch canary' x`, allow: []string{"git *"}, want: Ask},
	{id: "B17", command: `git -c alias.x='!rm -rf y' x`, mode: ModeYolo, deny: []string{"rm *"}, want: Deny},
	{id: "B17", command: `git -c core.sshCommand='sh -c "rm y"' fetch`, mode: ModeYolo, deny: []string{"rm *"}, want: Deny},
	{id: "B17", command: `git -c alias.x=push x`, mode: ModeYolo, deny: []string{"push *"}, want: Deny},

	{id: "B18", command: `git fetch --upload-p=x origin`, allow: []string{"git fetch *"}, want: Ask},
	{id: "B18", command: `git clone --upl x y`, allow: []string{"git clone *"}, want: Ask},
	{id: "B18", command: `git push --receive-p x`, allow: []string{"git push *"}, want: Ask},
	{id: "B18", command: `git push --forc`, allow: []string{"git push *"}, want: Ask},
	{id: "B17", command: `git bisect run rm y`, mode: ModeYolo, deny: []string{"rm *"}, want: Deny},
	{id: "B17", command: `git submodule foreach 'rm y'`, mode: ModeYolo, deny: []string{"rm *"}, want: Deny},
	{id: "B17", command: `git rebase --exec='rm y' x`, mode: ModeYolo, deny: []string{"rm *"}, want: Deny},
	{id: "B18", command: `git push --forc`, mode: ModeYolo, deny: []string{"git push --force *"}, want: Ask},
	{id: "B18", command: `git push --force=x`, mode: ModeYolo, deny: []string{"git push --force *"}, want: Ask},
	{id: "B18", command: `git push --force`, mode: ModeYolo, deny: []string{"git push --force *"}, want: Deny},
	{id: "B18", command: `git push -- x`, mode: ModeYolo, deny: []string{"git push --force *"}, want: Allow},
	{id: "B18", command: `rg --pr x foo`, allow: []string{"rg *"}, want: Ask},

	{id: "B19", command: `env git push`, mode: ModeYolo, deny: []string{"git push *"}, want: Deny},
	{id: "B19", command: `sudo -u root git push`, mode: ModeYolo, deny: []string{"git push *"}, want: Deny},
	{id: "B19", command: `timeout -s KILL 5 git push`, mode: ModeYolo, deny: []string{"git push *"}, want: Deny},
	{id: "B19", command: `nice -n 10 git push`, mode: ModeYolo, deny: []string{"git push *"}, want: Deny},
	{id: "B19", command: `watch -n1 'git push'`, mode: ModeYolo, deny: []string{"git push *"}, want: Deny},
	{id: "B19", command: `setsid nohup stdbuf -oL git push`, mode: ModeYolo, deny: []string{"git push *"}, want: Deny},
	{id: "B19", command: `xargs -I{} git push {} < f`, mode: ModeYolo, deny: []string{"git push *"}, want: Deny},
	{id: "B19", command: `bash -c "git push"`, mode: ModeYolo, deny: []string{"git push *"}, want: Deny},
	{id: "B19", command: `bash -c'git push'`, mode: ModeYolo, deny: []string{"git push *"}, want: Deny},
	{id: "B19", command: `sh -c 'sh -c "eval git push"'`, mode: ModeYolo, deny: []string{"git push *"}, want: Deny},
	{id: "B19", command: `eval "git" "push"`, mode: ModeYolo, deny: []string{"git push *"}, want: Deny},
	{id: "B19", command: "bash <<< 'git push'", mode: ModeYolo, deny: []string{"git push *"}, want: Deny},
	{id: "B19", command: "bash <<'E'\ngit push\nE", mode: ModeYolo, deny: []string{"git push *"}, want: Deny},
	{id: "B19", command: `command git push`, mode: ModeYolo, deny: []string{"git push *"}, want: Deny},
	{id: "B19", command: `exec -a x git push`, mode: ModeYolo, deny: []string{"git push *"}, want: Deny},
	{id: "B19", command: `busybox git push`, mode: ModeYolo, deny: []string{"git push *"}, want: Deny},
	{id: "B19", command: `doas git push`, mode: ModeYolo, deny: []string{"git push *"}, want: Deny},
	{id: "B19", command: `ionice -c3 chroot / unshare -r flock f git push`, mode: ModeYolo, deny: []string{"git push *"}, want: Deny},
	{id: "B19", command: `env -S "git push"`, mode: ModeYolo, deny: []string{"git push *"}, want: Deny},
	{id: "B19", command: `env --split-string='git push'`, mode: ModeYolo, deny: []string{"git push *"}, want: Deny},
	{id: "B19", command: `/usr/bin/git push`, mode: ModeYolo, deny: []string{"git push *"}, want: Deny},
	{id: "B19", command: `\git push`, mode: ModeYolo, deny: []string{"git push *"}, want: Deny},
	{id: "B19", command: `'gi't "pu"sh`, mode: ModeYolo, deny: []string{"git push *"}, want: Deny},
	{id: "B19", command: `GIT push`, mode: ModeYolo, deny: []string{"git push *"}, want: Deny},
	{id: "B19", command: `git -C . push`, mode: ModeYolo, deny: []string{"git push *"}, want: Deny},
	{id: "B19", command: `git --no-pager -c a=b push`, mode: ModeYolo, deny: []string{"git push *"}, want: Deny},
	{id: "B19", command: `echo $(git push)`, mode: ModeYolo, deny: []string{"git push *"}, want: Deny},
	{id: "B19", command: `f() { git push; }; f`, mode: ModeYolo, deny: []string{"git push *"}, want: Deny},
	{id: "B19", command: `find . -exec git push \;`, mode: ModeYolo, deny: []string{"git push *"}, want: Deny},
	{id: "B19", command: `find . -exec sh -c 'git push' \;`, mode: ModeYolo, deny: []string{"git push *"}, want: Deny},
	{id: "B19", command: `trap 'git push' EXIT`, mode: ModeYolo, deny: []string{"git push *"}, want: Deny},
	{id: "B19", command: `git.exe push`, mode: ModeYolo, deny: []string{"git push *"}, want: Deny},
	{id: "B19", command: `setarch x86_64 git push`, mode: ModeYolo, deny: []string{"git push *"}, want: Deny},
	{id: "B19", command: `bash -c "git push $x"`, mode: ModeYolo, deny: []string{"git push *"}, want: Deny},
	{id: "B19", command: `at now <<< 'git push'`, mode: ModeYolo, deny: []string{"git push *"}, want: Deny},
	// What cannot be determined is asked, never allowed.
	{id: "B19", command: `echo push | xargs git`, mode: ModeYolo, deny: []string{"git push *"}, want: Ask},
	{id: "B19", command: `xargs -I% git % <<< push`, mode: ModeYolo, deny: []string{"git push *"}, want: Ask},
	{id: "B19", command: `xargs -I {} {} push <<< git`, mode: ModeYolo, deny: []string{"git push *"}, want: Ask},
	{id: "B19", command: `parallel git ::: push`, mode: ModeYolo, deny: []string{"git push *"}, want: Ask},
	{id: "B19", command: `find . -name push -exec git {} \;`, mode: ModeYolo, deny: []string{"git push *"}, want: Ask},
	{id: "B19", command: `echo '$(git push)'; echo ${_@P}`, mode: ModeYolo, deny: []string{"git push *"}, want: Ask},
	{id: "B19", command: `test -v 'a[$(git push)]'`, mode: ModeYolo, deny: []string{"git push *"}, want: Ask},
	{id: "B19", command: `alias p=git`, mode: ModeYolo, deny: []string{"git push *"}, want: Ask},
	{id: "B19", command: `xargs git add < f`, mode: ModeYolo, deny: []string{"git push *"}, want: Allow},
	{id: "B19", command: `ls | xargs -I {} cp {} x`, mode: ModeYolo, deny: []string{"git push *"}, want: Allow},
	{id: "B19", command: `find . -name x -exec grep y {} +`, mode: ModeYolo, deny: []string{"git push *"}, want: Allow},
	{id: "B19", command: `find . -type f -print`, mode: ModeYolo, deny: []string{"git push *"}, want: Allow},
	{id: "B19", command: `fd -H x -0 | xargs -0 -n1`, mode: ModeYolo, deny: []string{"git push *"}, want: Allow},
	{id: "B19", command: `[ -n "$(git status)" ]`, mode: ModeYolo, deny: []string{"git push *"}, want: Allow},
	{id: "B19", command: `git $x`, mode: ModeYolo, deny: []string{"git push *"}, want: Ask},
	{id: "B19", command: `$x push`, mode: ModeYolo, deny: []string{"git push *"}, want: Ask},
	{id: "B19", command: `bash -c "$x"`, mode: ModeYolo, deny: []string{"git push *"}, want: Ask},
	{id: "B19", command: `curl x | sh`, mode: ModeYolo, deny: []string{"git push *"}, want: Ask},
	{id: "B19", command: `git $x`, mode: ModeAuto, boxed: true, deny: []string{"git push *"}, want: Deny},
	{id: "B19", command: `git status`, mode: ModeYolo, deny: []string{"git push *"}, want: Allow},
	{id: "B19", command: `echo $x`, mode: ModeYolo, deny: []string{"git push *"}, want: Allow},

	{id: "B20", command: `rm -rf /`, mode: ModeYolo, want: Ask},
	{id: "B20", command: `rm -rf / --no-preserve-root`, mode: ModeYolo, allow: []string{"rm *"}, want: Ask},
	{id: "B20", command: `rm -rf ~`, mode: ModeYolo, want: Ask},
	{id: "B20", command: `rm -rf "$HOME"/`, mode: ModeYolo, want: Ask},
	{id: "B20", command: `rm -rf ${HOME}/*`, mode: ModeYolo, want: Ask},
	{id: "B20", command: `rm -rf /*`, mode: ModeYolo, want: Ask},
	{id: "B20", command: `rm -rf .`, mode: ModeYolo, want: Ask},
	{id: "B20", command: `rm -rf ./*`, mode: ModeYolo, want: Ask},
	{id: "B20", command: `rm -rf *`, mode: ModeYolo, want: Ask},
	{id: "B20", command: `rm -rf /work/project`, mode: ModeYolo, want: Ask},
	{id: "B20", command: `rm -rf /work/project/../project/`, mode: ModeYolo, want: Ask},
	{id: "B20", command: `rm -rf /work`, mode: ModeYolo, want: Ask},
	{id: "B20", command: `rm -rf .git`, mode: ModeYolo, want: Ask},
	{id: "B20", command: `rm -rf "$X/"`, mode: ModeYolo, want: Ask},
	{id: "B20", command: `echo $(rm -rf /)`, mode: ModeYolo, want: Ask},
	{id: "B20", command: `eval rm "-rf /"`, mode: ModeYolo, want: Ask},
	{id: "B20", command: `watch -n1 rm "-rf ~"`, mode: ModeYolo, want: Ask},
	{id: "B20", command: `rm "-rf" "$X/"`, mode: ModeYolo, want: Ask},
	{id: "B20", command: `$(echo rm) -rf /`, mode: ModeYolo, want: Ask},
	{id: "B20", command: `sudo rm -rf /private/etc`, mode: ModeYolo, want: Ask},
	{id: "B20", command: `rm -rf /etc`, mode: ModeYolo, want: Ask},
	{id: "B20", command: `bash -c 'cd / && rm -rf *'`, mode: ModeYolo, want: Ask},
	{id: "B20", command: `cd /; rm -r -- *`, mode: ModeYolo, want: Ask},
	{id: "B20", command: `find / -delete`, mode: ModeYolo, want: Ask},
	{id: "B20", command: `find . -type f -exec rm {} +`, mode: ModeYolo, want: Ask},
	{id: "B20", command: `dd if=/dev/zero of=/dev/sda`, mode: ModeYolo, want: Ask},
	{id: "B20", command: `cat x > /dev/sda`, mode: ModeYolo, want: Ask},
	{id: "B20", command: `echo x | tee /dev/nvme0n1`, mode: ModeYolo, want: Ask},
	{id: "B20", command: `mkfs.ext4 /dev/sda1`, mode: ModeYolo, want: Ask},
	{id: "B20", command: `chmod -R 777 /`, mode: ModeYolo, want: Ask},
	{id: "B20", command: `chown -R me ~`, mode: ModeYolo, want: Ask},
	{id: "B20", command: `mv /work/project /tmp/x`, mode: ModeYolo, want: Ask},
	{id: "B20", command: `reboot`, mode: ModeYolo, want: Ask},
	{id: "B20", command: `kill -9 -1`, mode: ModeYolo, want: Ask},
	{id: "B20", command: `rm -rf .`, mode: ModeGuard, boxed: true, want: Ask},
	{id: "B20", command: `rm -rf .`, mode: ModeAuto, boxed: true, want: Deny},
	{id: "B20", command: `rm -rf build node_modules/x`, mode: ModeYolo, want: Allow},
	{id: "B20", command: `rm -rf /work/project/build`, mode: ModeYolo, want: Allow},
	{id: "B20", command: `rm -rf "build/$x"`, mode: ModeYolo, want: Allow},
	{id: "B20", command: `rm -rf /tmp/x`, mode: ModeYolo, want: Allow},
	{id: "B20", command: `find . -name '*.o' -delete`, mode: ModeYolo, want: Allow},
	{id: "B20", command: `mv x . && chmod -R u+w . && cp a /dev/null`, mode: ModeYolo, want: Allow},

	{id: "B20", command: `echo / | xargs rm -rf`, mode: ModeYolo, want: Ask},
	{id: "B20", command: `rm $(echo -rf /)`, mode: ModeYolo, want: Ask},
	{id: "B20", command: `rm -rf "build/$x/../.."`, mode: ModeYolo, want: Ask},
	{id: "B20", command: `find -L / -name x -delete`, mode: ModeYolo, want: Ask},
	{id: "B20", command: `fd . / -x rm`, mode: ModeYolo, want: Ask},
	{id: "B20", command: `cd ~ && eval "rm -rf $(pwd)"`, mode: ModeYolo, want: Ask},
	{id: "B20", command: `find . -name x | xargs rm -f`, mode: ModeYolo, want: Allow},

	{id: "B21", command: `rm -rf ~/Documents`, mode: ModeYolo, want: Ask},
	{id: "B21", command: `rm -rf ../other`, mode: ModeYolo, want: Ask},
	{id: "B21", command: `rm $HOME/.bashrc`, mode: ModeYolo, want: Ask},
	{id: "B21", command: `rmdir "/srv/a b"`, mode: ModeYolo, want: Ask},
	{id: "B21", command: `rm -r a\ / b`, mode: ModeYolo, want: Allow}, // "a /", a directory of the workspace

	{id: "B23", command: `cd .claude && echo x > settings.json`, allow: []string{"cd *", "echo *"}, want: Ask},
	{id: "B23", command: `cd .claude; tee settings.json`, allow: []string{"cd *"}, want: Ask},
	{id: "B23", command: `pushd .git/hooks && cp x pre-commit`, allow: []string{"cp *"}, want: Ask},
	{id: "B23", command: `(cd .. && make)`, allow: []string{"make"}, want: Ask},
}

func (h hostile) decide() Verdict {
	p := Policy{Mode: h.mode, Sandboxed: h.boxed, Dir: "/work/project", Home: "/home/me"}
	if p.Mode == "" {
		p.Mode = ModeAsk
	}
	for _, pattern := range h.allow {
		p.Rules = append(p.Rules, Rule{Tool: "bash", Pattern: pattern, Decision: Allow, Origin: OriginUser})
	}
	for _, pattern := range h.deny {
		p.Rules = append(p.Rules, Rule{Tool: "bash", Pattern: pattern, Decision: Deny, Origin: OriginUser})
	}
	return Decide(p, bash(h.command))
}

func bash(command string) Call {
	return Call{Tool: "bash", Risk: toolapi.RiskDangerous, Access: []pawl.Access{{Kind: pawl.AccessExec, Target: command}}}
}

func TestHostileCommands(t *testing.T) {
	t.Parallel()
	rows := map[string]int{}
	for _, h := range hostiles {
		rows[h.id]++
		for _, r := range append(h.allow, h.deny...) {
			if err := (Rule{Tool: "bash", Pattern: r, Decision: Deny}).Check(); err != nil {
				t.Errorf("%s: the rule %q: %v", h.id, r, err)
			}
		}
		if v := h.decide(); v.Decision != h.want {
			t.Errorf("%s %q: %s, want %s: %s", h.id, h.command, v.Decision, h.want, v.Why)
		}
	}
	for i := 1; i <= 23; i++ {
		id := "B" + string(rune('0'+i/10)) + string(rune('0'+i%10))
		if i < 10 {
			id = "B" + string(rune('0'+i))
		}
		if id != "B22" && rows[id] < 3 { // B22 is no command: see TestEscape
			t.Errorf("%s has %d rows", id, rows[id])
		}
	}
}
