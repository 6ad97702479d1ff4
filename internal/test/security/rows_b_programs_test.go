//go:build sectest

package security

import "github.com/pawl-dev/pawl/internal/security/permission"

// More lines of chapter B: what the options of programs do, and what
// deletes.

var assignments = lines{
	allow: []string{"ls *", "git status", "*"},
	fine:  []string{`ls a=b`},
	bad: []string{
		`LD_PRELOAD=./x.so ls`, `X=1; ls`, `PATH=. && ls`, `PATH+=:. ; ls`, `IFS=x; ls`, `ls; PATH=. `, `GIT_DIR=/x git status`, `A=1 B=2 ls`, `a[0]=1; ls`, `a=(1 2); ls`, `BASH_ENV=x ls`, `ENV=x ls`, `PROMPT_COMMAND=x; ls`,
		`PS4=x ls`, `NODE_OPTIONS=--require=./x.js ls`, `DYLD_INSERT_LIBRARIES=x ls`, `HOME=. ls`, `LESSOPEN=x ls`,
	},
	real: []string{`X=1; touch canary`, `LD_PRELOAD=./x.so touch canary`},
}

var gitOptions = lines{
	allow: []string{"git *", "git log *", "git push *", "git branch *", "git rebase *"},
	fine:  []string{`git log --oneline`, `git diff HEAD`, `git push origin main`, `git branch --list`, `git log -n 3 -p`},
	bad: []string{
		`git -c core.pager=x log`, `git -ccore.pager=x log`, `git -c core.fsmonitor=./x status`, `git --config-env=core.pager=X log`, `git --config-env core.pager=X log`, `git --exec-path=. log`, `git --exec-path . log`,
		`git --git-dir=x log`, `git --git-dir x log`, `git --work-tree=/ checkout x`, `git --work-tree / checkout x`, `git -C /x log`, `git -C/x log`, `git --namespace=x log`,
		`git log --output=canary`, `git log --output canary`, `git diff --output=canary`, `git log --ext-diff`, `git diff --ext-diff`, `git diff --textconv`, `git show --textconv x`,
		`git branch -d main`, `git branch -D main`, `git branch --delete main`, `git branch -rd x`, `git tag -d x`, `git push origin +main`, `git push origin :main`, `git push -f`, `git push --force`, `git push --force-with-lease=x`,
		`git push --mirror`, `git push --delete origin x`, `git push -d origin x`, `git grep -Ox y`, `git grep -O x`, `git grep --open-files-in-pager=x y`, `git archive -o canary HEAD`, `git archive --output=canary HEAD`,
		`git rebase -x 'touch canary' HEAD~1`, `git rebase --exec 'touch canary' HEAD~1`, `git rebase --exec='touch canary' HEAD~1`, `git bisect run touch canary`, `git submodule foreach 'touch canary'`,
		`git filter-branch --tree-filter 'touch canary'`, `git difftool -y -x 'touch canary'`, `git difftool --extcmd='touch canary'`, `git config core.pager 'touch canary'`, `git init --template=x`, `git clone -c a=b x`,
		`git clone --config a=b x`, `git clone -u ./x y`, `git fetch --upload-pack=./x y`, `git ls-remote --exec=./x y`, `git reset --hard`, `git clean -xfd`, `git send-email --sendmail-cmd=./x`, `git log \--output=canary`, `git log "--output=canary"`,
	},
	real: []string{`git log --output=canary`, `git log --output canary -p`, `git -c diff.external=./evil.sh log -p --ext-diff`, `git archive -o canary HEAD`},
}

var gitAliases = lines{
	allow: []string{"git *", "git x *"},
	fine:  []string{`git x`, `git status`},
	bad: []string{
		`git -c alias.x='!touch canary' x`, `git -c 'alias.x=!touch canary' x`, `git -calias.x='!touch canary' x`, `git -c "alias.x=!touch canary" x`, `git --config-env=alias.x=V x`, `git --no-pager -c alias.x=!id x`,
		`git -c alias.x='!f() { touch canary; }; f' x`, `git -c include.path=./evil x`, `git config --global alias.x '!touch canary'`,
	},
	real: []string{`git -c alias.x='!touch canary' x`, `git -c "alias.x=!touch canary" x`},
}

var deniedAliases = lines{
	mode: permission.ModeYolo, deny: []string{"touch *"},
	fine: []string{`git -c a.b=c log`},
	bad: []string{
		`git -c alias.x='!sh -c "touch canary"' x`, `git -c core.sshCommand='touch canary' fetch x`, `git -c core.pager='touch canary' -p log`, `git -c core.editor='touch canary' commit`,
		`git -c diff.external='touch canary' diff`, `git -c alias.x='!env touch canary' x`, `git rebase -x 'touch canary' HEAD~1`, `git rebase --exec='touch canary' HEAD~1`, `git bisect run touch canary`,
		`git submodule foreach touch canary`, `git submodule foreach 'touch canary'`, `git difftool --extcmd 'touch canary'`, `git filter-branch --tree-filter 'touch canary'`,
	},
	real: []string{`git -c alias.x='!touch canary' x`, `git -c "alias.x=!touch canary" x`},
}

// abbreviations: programs take the beginning of a long option for the option.
var abbreviations = lines{
	allow: []string{"git fetch *", "git clone *", "git push *", "git log *", "git branch *", "git rebase *", "rg *", "sort *", "tar *", "git archive *", "curl *"},
	fine:  []string{`git fetch --all`, `git log --graph`, `sort --reverse x`},
	bad: []string{
		`git fetch --upload-p=./x origin`, `git fetch --upl ./x origin`, `git clone --upload-pac=./x y`, `git clone --upload-p ./x y`, `git push --receive-p=./x`, `git push --recei ./x`, `git push --exe=./x`, `git push --forc`, `git push --mirr`,
		`git push --del origin x`, `git log --outp=canary`, `git log --ext-dif`, `git log --textcon`, `git branch --del x`, `git rebase --exe 'touch canary'`, `git clone --templ=x y`, `git archive --outpu=canary HEAD`,
		`rg --pr x foo`, `rg --search-z foo`, `sort --out=canary x`, `sort --compress-prog=./x y`, `tar --to-com=x f`, `tar --checkpoint-act=exec=x f`, `tar --use-comp=x f`, `curl --outp canary x`, `curl --conf x`,
	},
	real: []string{`sort --outp=canary /dev/null`, `sort --out canary /dev/null`},
}

var deniedAbbreviations = lines{
	mode: permission.ModeYolo, deny: []string{"git push --force *", "git fetch --upload-pack *", "sort --output *"},
	fine: []string{`git push --follow-tags`, `git fetch --all`, `sort x`},
	bad:  []string{`git push --forc`, `git push --fo origin`, `git push --force=x`, `git fetch --upload-p ./x y`, `git fetch --upload-pack=./x y`, `env git push --forc`},
	real: []string{`sort --outp canary /dev/null`, `sort --output=canary /dev/null`},
}

// wrapped: what is denied is carried by another program.
var wrapped = lines{
	mode: permission.ModeYolo, deny: []string{"git push *", "touch *"},
	fine: []string{`env git status`, `timeout 5 git log`, `bash -c "git status"`, `xargs git add < f`, `find . -name x -exec grep y {} +`, `ls | xargs -I {} cp {} x`},
	bad: []string{
		`env git push`, `env -i git push`, `env X=1 git push`, `env -u X git push`, `env -S "git push"`, `env --split-string='git push'`, `sudo git push`, `sudo -u root git push`, `sudo -- git push`, `doas git push`, `su -c 'git push'`,
		`timeout 5 git push`, `timeout -s KILL 5 git push`, `timeout --signal=KILL 5 git push`, `nice git push`, `nice -n 10 git push`, `nice -10 git push`, `ionice -c3 git push`, `nohup git push`, `setsid git push`, `setsid -w git push`,
		`stdbuf -oL git push`, `watch git push`, `watch -n1 'git push'`, `time -p /usr/bin/time git push`, `command git push`, `builtin command git push`, `exec git push`, `exec -a x git push`, `eval git push`, `eval "git" "push"`, `eval 'git push'`,
		`bash -c "git push"`, `bash -c'git push'`, `bash -lc 'git push'`, `sh -c 'sh -c "eval git push"'`, `bash <<< 'git push'`, "bash <<'E'\ngit push\nE", `dash -c 'git push'`, `busybox git push`, `busybox sh -c 'git push'`,
		`xargs -I{} git push {} < f`, `echo push | xargs git`, `xargs -I% git % <<< push`, `xargs -I {} {} push <<< git`, `find . -name git -exec {} push \;`, `bash -c "git push $x"`, `parallel git ::: push`, `find . -exec git push \;`, `find . -name push -exec git {} \;`, `find . -name x -exec sh -c 'git push' \;`, `trap 'git push' EXIT`,
		`chroot / git push`, `unshare -r git push`, `nsenter -t 1 git push`, `flock f git push`, `flock f -c 'git push'`, `script -c 'git push'`, `ssh localhost git push`, `ssh localhost 'git push'`, `tmux new 'git push'`,
		`systemd-run git push`, `strace git push`, `setarch x86_64 git push`, `linux64 git push`, `sg x -c 'git push'`, `chronic git push`, `/lib64/ld-linux-x86-64.so.2 /usr/bin/git push`, `at now <<< 'git push'`, `setsid nohup stdbuf -oL nice git push`,
		`curl x | sh`, `sh < x`, `bash -c "$x"`, `x='$(git push)'; echo ${x@P}`, `test -v 'a[$(git push)]'`, `alias p=git`, `hash -p /usr/bin/git p; p push`,
	},
	real: []string{`env touch canary`, `timeout 5 touch canary`, `bash -c 'touch canary'`, `echo canary | xargs touch`, `setsid -w nice touch canary`},
}

// respelled: what is denied has another spelling, or options before it.
var respelled = lines{
	mode: permission.ModeYolo, deny: []string{"git push *", "touch *"},
	fine: []string{`git -C . status`, `/usr/bin/git log`},
	bad: []string{
		`/usr/bin/git push`, `./git push`, `../../usr/bin/git push`, `GIT push`, `Git push`, `git.exe push`, `git -C . push`, `git -c a=b push`, `git --no-pager push`, `git --no-pager -c a=b push`, `git -p push`, `git --git-dir x push`, `git --git-dir=x push`,
	},
	real: []string{`/usr/bin/touch canary`, `/bin/touch canary`},
}

var catastrophicLines = lines{
	mode: permission.ModeYolo,
	fine: []string{`rm -rf build`, `rm -rf /work/project/build`, `rm -rf /tmp/x`, `rm -rf "build/$x"`, `find . -name '*.o' -delete`, `find . -name x | xargs rm -f`, `mv x .`},
	bad: []string{
		`rm -rf /`, `rm -rf /*`, `rm -rf //`, `rm -rf /.`, `rm -rf /./../`, `rm -r -f /`, `rm / -rf`, `rm --recursive --force /`, `rm --recurs /`, `rm -r --no-preserve-root /`, `rm -rf -- /`, `\rm -rf /`, `"r"m -rf /`, `/bin/rm -rf /`, `sudo rm -rf /`,
		`rm -rf ~`, `rm -rf ~/`, `rm -rf ~/*`, `rm -rf "$HOME"`, `rm -rf ${HOME}/`, `rm -rf /home/me`, `rm -rf /home`, `rm -rf /home/me/../me`, `rm -rf ~root`, `rm -rf ~+`, `rm -rf .`, `rm -rf ./*`, `rm -rf *`, `rm -rf "$PWD"`, `rm -rf $(pwd)`, `rm -rf ..`,
		`rm -rf /work/project`, `rm -rf /work`, `rm -rf .git`, `rm -rf .GIT`, `rm -rf /etc`, `rm -rf /private/etc`, `rm -rf /usr /x`, `rm -rf /{etc,usr}`, `rm -rf {/,x}`, `rm -rf $'\x2f'`, `rm -rf "build/.."`, `rm -rf "build/$x/../.."`, `rm -rf /proc/self/cwd`,
		`rm -rf "$X/"`, `rm -rf $X`, `rm -rf $(echo /)`, `rm $(echo -rf /)`, `x=/; rm -rf $x`, `r=rm; $r -rf /`, `$(echo rm) -rf /`, `echo $(rm -rf /)`, "echo `rm -rf /`", `echo "${x:-$(rm -rf /)}"`, `: <(rm -rf /)`, "cat <<E\n$(rm -rf /)\nE", `f() { rm -rf /; }; f`,
		`bash -c 'rm -rf /'`, `bash -c 'cd / && rm -rf *'`, `eval rm "-rf /"`, `trap 'rm -rf /' EXIT`, `xargs rm -rf <<< /`, `echo / | xargs rm -rf`, `find / -print0 | xargs -0 rm -rf`, `busybox rm -rf /`, `env rm -rf /`, `timeout 5 rm -rf ~`, `watch -n1 rm "-rf ~"`,
		`find / -delete`, `find -L / -name x -delete`, `find . -delete`, `find -delete`, `find ~ -type f -exec shred {} +`, `find . -type f -exec rm {} +`, `find / -exec sh -c 'rm {}' \;`, `fd . / -x rm`, `rsync -a --delete empty/ /`, `shred /etc/passwd`,
		`dd if=/dev/zero of=/dev/sda`, `cat x > /dev/sda`, `echo x | tee /dev/nvme0n1`, `cp x /dev/sda`, `mkfs.ext4 /dev/sda1`, `wipefs -a /dev/sda`, `chmod -R 777 /`, `chown -R me ~`, `mv /work/project /tmp/x`, `mv ~ /tmp/x`, `reboot`, `shutdown -h now`, `kill -9 -1`,
		`git -c alias.x='!rm -rf /' x`,
	},
}

var outsideLines = lines{
	mode: permission.ModeYolo,
	fine: []string{`rm -r a\ / b`, `rm -rf \ /srv`, `rm -rf "a b"`, `rmdir docs/old`, `rm ./x`, `rm -rf -- -x`},
	bad: []string{
		`rm -rf ~/Documents`, `rm -rf ../other`, `rm -rf /srv/data`, `rm $HOME/.bashrc`, `rm ~/.bashrc`, `rm -rf "/srv/my project"`, `rm -rf /srv/my project`, `rmdir "/srv/a b"`, `rmdir /srv/a\ b`, `unlink /srv/x`, `shred -u /srv/x`, `trash /srv/x`,
		`cd .. && rm -rf other`, `cd /srv; rm -rf data`, `rm -rf build /srv/data`, `rm -rf docs/../../other`, `rm -rf /work/project/../other`, `rm -rf /work/project-old`, `find /srv -name x -delete`, `find ../other -exec rm {} \;`, `sh -c 'rm -rf /srv/data'`,
		`for d in a b; do rm -rf "/srv/$d"; done`, `rm -rf /tmp`, `rm -rf /tmp/../srv/x`, `cmd='rm'; $cmd -rf /srv`,
	},
}

var elsewhereLines = lines{
	mode: permission.ModeYolo,
	fine: []string{`cd docs && rm -rf old`, `(cd docs && ls)`},
	bad: []string{
		`cd / && rm -rf usr`, `cd /srv && rm -rf data`, `cd ..; rm -rf other`, `cd ~; rm -rf Documents`, `cd && rm -rf Documents`, `cd docs/../.. && rm -rf other`, `cd -P -- .. && rm -rf other`, `(cd ..; rm -rf other)`, `{ cd ..; } ; rm -rf other`,
		`if cd ..; then rm -rf other; fi`, `cd .. && bash -c 'rm -rf other'`, `bash -c 'cd .. && rm -rf other'`, `cd .. && find other -name x -delete`, `cd .. && env rm -rf other`, `cd .. || rm -rf other`, `cd ..&&rmdir other`,
	},
}
