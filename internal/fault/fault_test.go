package fault_test

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"github.com/pawl-dev/pawl/internal/fault"
)

func TestError(t *testing.T) {
	t.Parallel()
	class, cause := errors.New("class"), errors.New("cause")
	err := error(fault.New(class, "open %s: %w", "x", cause).Hint("Run %s.", "it"))
	if got := err.Error(); got != "open x: cause" {
		t.Errorf("the text is %q", got)
	}
	for _, target := range []error{class, cause} {
		if !errors.Is(err, target) {
			t.Errorf("errors.Is(err, %v) is false", target)
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		t.Error("the error has a class that it was not given")
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	class := errors.New("class")
	hinted := fault.New(class, "no model configured").Hint("Pass --model.")
	for want, err := range map[string]error{
		"plain":                              errors.New("plain"),
		"no model configured. Pass --model.": hinted,
		"start: no model configured. Pass --model.": fmt.Errorf("start: %w", hinted),
		"outer: no model configured. Pass --model.": fault.New(class, "outer: %w", hinted),
		"no hint": fault.New(class, "no hint"),
	} {
		if got := fault.Text(err); got != want {
			t.Errorf("the text is %q, want %q", got, want)
		}
	}
}
