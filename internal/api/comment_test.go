package api

import (
	"errors"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl"
)

func TestCommentText(t *testing.T) {
	t.Parallel()
	got, err := CommentText([]Comment{
		{Path: "a/b.go", Line: 3, End: 4, Side: "new", Quote: "x := 1\ny := 2\n", Text: " Why two?\n"},
		{Path: "c", Line: 9, Side: "old", Text: "Keep this."},
	})
	want := "Comments on lines of files:\n\na/b.go:3-4\n> x := 1\n> y := 2\nWhy two?\n\nc:9 (before the change)\nKeep this.\n"
	if err != nil || got.Text != want {
		t.Errorf("%v, %q, want %q", err, got.Text, want)
	}
}

func TestCommentsThatAreInvalid(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", maxCommentText+1)
	list := map[string]Comment{
		"no path": {Line: 1, Text: "x"}, "two lines": {Path: "a\nb", Line: 1, Text: "x"}, "a long path": {Path: long, Line: 1, Text: "x"},
		"no line": {Path: "a", Text: "x"}, "an end before": {Path: "a", Line: 2, End: 1, Text: "x"}, "a side": {Path: "a", Line: 1, Side: "left", Text: "x"},
		"no text": {Path: "a", Line: 1, Text: " \n"}, "a long text": {Path: "a", Line: 1, Text: long}, "a long quote": {Path: "a", Line: 1, Text: "x", Quote: long},
		"bytes": {Path: "a", Line: 1, Text: "\xff"},
	}
	for name, c := range list {
		if _, err := CommentText([]Comment{c}); !errors.Is(err, pawl.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := CommentText(make([]Comment, maxComments+1)); !errors.Is(err, pawl.ErrInvalid) {
		t.Errorf("too many: %v", err)
	}
}
