package search

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// halting is an engine that searches the files named "quick" and waits for the end with others.
type halting struct {
	own
	deaf bool // it waits for release instead
	free chan struct{}
}

func (halting) Batch(*Pattern) int { return 1 }

func (h halting) Count(ctx context.Context, job Job) Counts {
	switch {
	case job.Files[0] == "quick":
		return h.own.Count(ctx, job)
	case h.deaf:
		<-h.free
	default:
		<-ctx.Done()
	}
	return Counts{}
}

func TestTimeIsUp(t *testing.T) {
	t.Parallel()
	dir := folderOf(t, map[string]string{"quick": "needle\n", "slow": "needle\n"})
	for _, deaf := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			limits := wide
			limits.Time = 30 * time.Second
			engine := halting{deaf: deaf, free: make(chan struct{})}
			defer close(engine.free)
			began := time.Now()
			found, err := Grep(t.Context(), open(t, dir), dir, engine, Query{Pattern: pattern(t, "needle", Options{}), Path: ".", Lines: true}, limits)
			if err != nil {
				t.Fatal(err)
			}
			found.Searched = 0 // not the same when it is deaf
			want := Matches{Files: []File{{"quick", 1, []Line{{1, "needle", true}}}}, FileCount: 1, LineCount: 1, Gaps: Gaps{TimeUp: true}}
			if diff := cmp.Diff(want, found); diff != "" {
				t.Error(diff)
			}
			if took := time.Since(began); took < 20*time.Second || took > limits.Time {
				t.Errorf("took %s", took)
			}
		})
	}
}

// one is an engine that finds a line in every file, at once.
type one struct{ own }

func (one) Count(_ context.Context, job Job) Counts {
	var found Counts
	for _, name := range job.Files {
		found.Files = append(found.Files, File{Path: name, Count: 1})
	}
	return found
}

// Showing a line can take longer than finding that there is one.
func TestTimeIsUpWhileShowing(t *testing.T) {
	t.Parallel()
	dir := folderOf(t, map[string]string{"a": "c\n", "b": strings.Repeat("ab", 20<<20)})
	limits := wide
	limits.Time = 200 * time.Millisecond
	found, err := Grep(t.Context(), open(t, dir), dir, one{}, Query{Pattern: pattern(t, "[ab]*[c-e]", Options{}), Path: ".", Lines: true}, limits)
	if err != nil {
		t.Fatal(err)
	}
	if !found.Gaps.TimeUp || found.LineCount != 2 || len(found.Files) == 0 || len(found.Files[0].Lines) != 1 {
		t.Errorf("%+v", found)
	}
}

func TestNoTimeAtAll(t *testing.T) {
	t.Parallel()
	dir := folderOf(t, map[string]string{"a": "needle\n"})
	limits := wide
	limits.Time = time.Nanosecond
	each(t, func(t *testing.T, engine Engine) {
		found, err := Grep(t.Context(), open(t, dir), dir, engine, Query{Pattern: pattern(t, "needle", Options{}), Path: "."}, limits)
		if err != nil || !found.Gaps.TimeUp {
			t.Errorf("%+v %v", found, err)
		}
	})
	found, err := Glob(t.Context(), open(t, dir), ".", Names{}, limits)
	if err != nil || !found.Gaps.TimeUp {
		t.Errorf("%+v %v", found, err)
	}
	tree, err := List(t.Context(), open(t, dir), ".", 2, limits)
	if err != nil || !tree.TimeUp {
		t.Errorf("%+v %v", tree, err)
	}
}

func TestCanceled(t *testing.T) {
	t.Parallel()
	dir := folderOf(t, map[string]string{"quick": "needle\n", "slow": "needle\n"})
	cause := errors.New("enough")
	for _, deaf := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			engine := halting{deaf: deaf, free: make(chan struct{})}
			defer close(engine.free)
			time.AfterFunc(time.Second, func() { cancel(cause) })
			began := time.Now()
			_, err := Grep(ctx, open(t, dir), dir, engine, Query{Pattern: pattern(t, "needle", Options{}), Path: "."}, wide)
			if took := time.Since(began) - time.Second; !errors.Is(err, cause) || took > grace {
				t.Errorf("%v, %s after the cancel", err, took)
			}
		})
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	if _, err := Glob(ctx, open(t, dir), ".", Names{}, wide); !errors.Is(err, cause) {
		t.Error(err)
	}
	if _, err := List(ctx, open(t, dir), ".", 2, wide); !errors.Is(err, cause) {
		t.Error(err)
	}
}

// A match that takes long, or a program that hangs, ends with its context.
func TestCanceledAtWork(t *testing.T) {
	t.Parallel()
	dir := folderOf(t, map[string]string{"a": strings.Repeat("ab", 20<<20)})
	hanging := program(t, filepath.Join(t.TempDir(), "rg"), "echo $$ >"+filepath.Join(dir, "pid")+"; exec sleep 600\n")
	for name, engine := range map[string]Engine{"own": Own(), "rg": Ripgrep(hanging)} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			defer cancel()
			_, err := Grep(ctx, open(t, dir), dir, engine, Query{Pattern: pattern(t, "[ab]*[c-e]", Options{}), Path: "a"}, wide)
			deadline, _ := ctx.Deadline()
			if took := time.Since(deadline); !errors.Is(err, context.DeadlineExceeded) || took > 30*time.Second {
				t.Errorf("%v, %s after its end", err, took)
			}
		})
	}
}
