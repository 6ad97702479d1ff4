package tree_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pawl-dev/pawl/internal/workspace/tree"
)

const project = `
mkdir -p d/e empty ro deep/a/b/c .git/objects/aa .git/refs/heads
echo one >f; echo two >d/x; echo three >d/e/y; printf 'sq\000lite' >db; head -c 100000 /dev/zero >big
ln -s f link; ln -s d dirlink; echo r >ro/file; echo readonly >r.txt; echo prog >run; chmod 755 run
echo z >deep/a/b/c/z; echo h >h1; ln h1 h2; ln h1 d/h3
echo o >.git/objects/aa/1; echo ref >.git/refs/heads/main; echo ref: >.git/HEAD; echo i >.git/index
touch 'new
line' "$(printf 'bad\377utf8')" ' space '; chmod 444 r.txt; chmod 555 ro
`

var commands = map[string]string{
	"nothing":                  `true`,
	"read":                     `cat f d/x >/dev/null; ls -lR >/dev/null`,
	"create":                   `echo a >a; echo b >d/b; echo c >d/e/c`,
	"create with mode":         `umask 077; echo a >a; mkdir p; echo x >p/x; umask 0; echo b >b; mkdir q`,
	"modify":                   `echo more >>f; echo new >d/x`,
	"modify in place":          `printf X | dd of=big bs=1 seek=5000 conv=notrunc 2>/dev/null`,
	"replace by rename":        `echo new >f.tmp; mv f.tmp f`,
	"delete":                   `rm f d/x d/e/y`,
	"delete and create":        `rm f; echo other >f`,
	"delete a link":            `rm link dirlink`,
	"chmod":                    `chmod 600 f; chmod 755 d/x; chmod 000 db; chmod 700 d; chmod 711 empty`,
	"chmod and write":          `chmod 755 f; echo x >>f`,
	"chmod to nothing":         `chmod 000 d/e; chmod 000 d`,
	"touch":                    `touch f d/x`,
	"open without change":      `: >>f; chmod 600 d/x; chmod 644 d/x`,
	"mkdir":                    `mkdir n; mkdir -p p/q/r/s; echo x >p/q/file`,
	"rmdir":                    `rmdir empty; rm -r d/e`,
	"rm -r":                    `rm -r d deep`,
	"rm -r and create":         `rm -r d; mkdir d; touch d/x`,
	"rm -r and create deep":    `rm -r deep; mkdir -p deep/a/other deep/a/b/c/d; echo n >deep/a/b/n`,
	"rm everything":            `chmod 755 ro; rm -rf * .git`,
	"mv":                       `mv f g; mv d/x d/e/x2; mv d/e/y f`,
	"mv new directory":         `mkdir n; echo 1 >n/1; mv n m; mv m d/m`,
	"mv over":                  `mv f d/x`,
	"mv new directory over":    `mkdir n; echo 1 >n/1; rm -r d; mv n d`,
	"swap":                     `mv f t; mv db f; mv t db`,
	"ln":                       `echo l >l1; ln l1 l2; ln l1 d/l3; ln f f2`,
	"ln -s":                    `ln -s nowhere s; ln -s ../f d/up; ln -sfn e link; ln -s /etc/passwd abs`,
	"truncate":                 `truncate -s 3 big; truncate -s 200000 db; : >f`,
	"mmap":                     `python3 -c 'import mmap; f=open("db","r+b"); m=mmap.mmap(f.fileno(),0); m[0:2]=b"XX"; m.flush(); m.close()'`,
	"mmap after a read":        `python3 -c 'import mmap; f=open("db","r+b"); m=mmap.mmap(f.fileno(),0); m[0]; m[0:2]=b"XX"; m.flush(); m.close()'`,
	"sqlite":                   `python3 -c 'import sqlite3; c=sqlite3.connect("s.db"); c.execute("pragma journal_mode=wal"); c.execute("create table t(x)"); c.commit(); c.close()'; python3 -c 'print(len(open("s.db","rb").read()))' >len; rm s.db`,
	"read-only file":           `chmod 644 r.txt; echo w >r.txt; chmod 444 r.txt; echo n >n; chmod 400 n; echo o >o; chmod 000 o`,
	"replace a read-only file": `rm -f r.txt; echo w >r.txt; chmod 444 r.txt`,
	"read-only directory":      `chmod 755 ro; echo n >ro/n; echo m >>ro/file; mkdir ro/sub; chmod 555 ro/sub ro`,
	"delete in read-only":      `chmod 755 ro; rm ro/file; chmod 555 ro`,
	"new read-only directory":  `mkdir -p k/l; echo 1 >k/l/1; echo 2 >k/2; chmod 444 k/l/1; chmod 555 k/l; chmod 500 k`,
	"new closed directory":     `mkdir -p k/l; echo 1 >k/l/1; chmod 000 k/l; chmod 000 k`,
	"file to directory":        `rm f; mkdir f; echo in >f/in; mkdir f/sub; echo deep >f/sub/deep`,
	"directory to file":        `rm -r d; echo file >d`,
	"directory to link":        `rm -r d; ln -s deep d`,
	"link to directory":        `rm dirlink; mkdir dirlink; echo x >dirlink/x`,
	"link to file":             `rm link; echo x >link`,
	"file to link":             `rm f; ln -s db f`,
	"empty directory to file":  `rmdir empty; echo x >empty`,
	"odd names":                "echo 1 >'a\nb'; echo 2 >\"$(printf 'x\\377\\376y')\"; mkdir \"$(printf 'd\\200')\"; echo 3 >\"$(printf 'd\\200/\\201')\"; echo 4 >'-rf'; echo 5 >'*'; echo 6 >'new\nline'; rm ' space '; echo 7 >'\\'; echo 8 >.wh.x; echo 9 >'\"'",
	"whiteout names":           `echo x >.wh.f; mkdir .wh..wh..opq`,
	"long names":               `n=$(printf '%0255d' 0); echo x >$n; mkdir -p d/$n/$n/$n; echo y >d/$n/$n/$n/$n`,
	"commit":                   `echo o2 >.git/objects/aa/2; echo ref2 >.git/refs/heads/main; echo i2 >.git/index.lock; mv .git/index.lock .git/index; echo log >>.git/log; rm .git/objects/aa/1`,
	"hard link deleted":        `rm h1; rm d/h3`,
	"sticky":                   `mkdir st; chmod 1777 st; chmod 1755 d`,
	"many":                     `mkdir m; for i in 1 2 3 4 5 6 7 8 9; do mkdir m/$i; for j in 1 2 3 4 5 6 7 8 9; do echo $i$j >m/$i/$j; done; done`,
}

// A command in a view has the effect that it has without one.
func TestCommands(t *testing.T) {
	t.Parallel()
	for name, script := range commands {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, variant := range []string{"move", "copy", "detach", "upper elsewhere", "state elsewhere", "both elsewhere", "copied view", "copied view elsewhere"} {
				s := newSandbox(t)
				s.copies = strings.HasPrefix(variant, "copied view")
				shell(t, s.root, project)
				bare := filepath.Join(tempDir(t, ""), "bare")
				must(t, exec.Command("cp", "-a", s.root, bare).Run())
				shell(t, bare, script)
				if variant == "upper elsewhere" || variant == "both elsewhere" || variant == "copied view elsewhere" {
					s.scratch = tempDir(t, "/dev/shm")
				}
				if variant == "state elsewhere" || variant == "both elsewhere" {
					s.state = tempDir(t, "/dev/shm")
				}
				tx := s.view(script)
				tx.Copy = variant == "copy"
				before, _ := s.scan(tx)
				again, _ := s.scan(tx)
				ignored := cmpopts.IgnoreFields(tree.Stat{}, "ChangeTime") // a scan may change modes for a moment
				if diff := cmp.Diff(before, again, ignored); diff != "" {
					t.Errorf("%s: (-first scan +second scan)\n%s", variant, diff)
				}
				changes := before
				if variant == "detach" {
					changes = s.detach(tx, before)
				}
				res, err := tx.Apply(t.Context(), changes)
				must(t, err)
				if len(res.Conflicts) > 0 {
					t.Errorf("%s: conflicts %+v", variant, res.Conflicts)
				}
				if diff := cmp.Diff(listing(t, bare), listing(t, s.root)); diff != "" {
					t.Errorf("%s: (-bare +applied)\n%s", variant, diff)
				}
				if name == "nothing" || name == "read" || name == "open without change" {
					if len(before) > 0 {
						t.Errorf("changes %+v", before)
					}
				}
			}
		})
	}
}
