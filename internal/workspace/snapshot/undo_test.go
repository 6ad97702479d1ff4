package snapshot

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestUndoCommands: changes of real commands are undone and redone byte for byte.
func TestUndoCommands(t *testing.T) {
	t.Parallel()
	for name, repo := range map[string]string{"repository": "git init -q .; git add . ; git commit -qm first", "folder": "true"} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t)
			w.sh(`mkdir -p dir/sub gone
				printf 'one\r\ntwo' >text; printf 'a\0b\377' >binary; printf x >tool; chmod 755 tool
				printf keep >keep; printf 1 >dir/a; printf 2 >dir/sub/b; printf 3 >gone/c; ln -s text link
				printf f >file2dir; mkdir dir2file; printf g >dir2file/g; ln -s nowhere link2file; printf h >file2link
				printf n >"$(printf 'new\nline')"; printf b >"$(printf 'bad\377')"; : >empty`)
			w.sh(repo)
			before := w.show()
			s := w.span(`printf three >>text; printf 'c\0d' >binary; chmod 644 tool; rm -r gone; mv dir/sub/b moved
				rm link; ln -s keep link; mkdir -p fresh/deep; printf new >fresh/deep/n; chmod 755 keep
				rm file2dir; mkdir file2dir; printf in >file2dir/in; rm -r dir2file; printf flat >dir2file
				rm link2file; printf file >link2file; rm file2link; ln -s text file2link
				printf more >"$(printf 'new\nline')"; rm "$(printf 'bad\377')"; rm empty`)
			after := w.show()
			w.undo(Refuse, s)
			got := w.show()
			if diff := cmp.Diff(before, got); diff != "" {
				t.Errorf("undone: %s", diff)
			}
			w.redo(Refuse, s)
			got = w.show()
			delete(after, "dir/sub") // an empty directory is not covered
			if diff := cmp.Diff(after, got); diff != "" {
				t.Errorf("done again: %s", diff)
			}
			if w.take() != s.After {
				t.Error("the folder is not as after the commands")
			}
		})
	}
}
