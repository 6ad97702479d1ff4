package provider

import (
	"context"
	"errors"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model"
)

// answers is a model that gives one of its answers a call, the last one permanently.
type answers struct {
	list  []answer
	calls int
}

type answer struct {
	chunks []model.Chunk
	err    error
}

func (a *answers) Stream(context.Context, model.Request) iter.Seq2[model.Chunk, error] {
	now := a.list[min(a.calls, len(a.list)-1)]
	a.calls++
	return func(yield func(model.Chunk, error) bool) {
		for _, c := range now.chunks {
			if !yield(c, nil) {
				return
			}
		}
		if now.err != nil {
			yield(model.Chunk{}, now.err)
		}
	}
}

var (
	hello   = []model.Chunk{{Kind: model.ChunkText, Text: "hello"}, {Kind: model.ChunkFinish, Finish: pawl.FinishEndTurn}}
	partial = []model.Chunk{{Kind: model.ChunkText, Text: "hel"}}
	nothing = []model.Chunk{{Kind: model.ChunkUsage}, {Kind: model.ChunkFinish, Finish: pawl.FinishEndTurn}}
)

func failed(kind pawl.ErrorKind) answer {
	return answer{err: &model.ProviderError{Kind: kind, Message: "m"}}
}

func TestPatience(t *testing.T) {
	t.Parallel()
	slow := answer{err: &model.ProviderError{Kind: pawl.ErrorRateLimited, RetryAfter: 90 * time.Second}}
	endless := answer{err: &model.ProviderError{Kind: pawl.ErrorRateLimited, RetryAfter: time.Hour}}
	for _, tt := range []struct {
		name     string
		first    []answer
		second   []answer // of a fallback model, if any
		calls    int      // of both
		retries  int
		min, max time.Duration // how long it takes
		text     string
		err      pawl.ErrorKind
	}{
		{"at once", []answer{{chunks: hello}}, nil, 1, 0, 0, 0, "hello", ""},
		{"after one failure", []answer{failed(pawl.ErrorOverloaded), {chunks: hello}}, nil, 2, 1, 750 * time.Millisecond, 1250 * time.Millisecond, "hello", ""},
		{"the partial reply is void", []answer{{partial, failed(pawl.ErrorConnection).err}, {chunks: hello}}, nil, 2, 1, 0, 2 * time.Second, "hello", ""},
		{"a stream without an end", []answer{{chunks: partial}, {chunks: hello}}, nil, 2, 1, 0, 2 * time.Second, "hello", ""},
		{"never a storm", []answer{failed(pawl.ErrorServer)}, nil, 6, 5, 23 * time.Second, 39 * time.Second, "", pawl.ErrorServer},
		{"as long as the provider asks for", []answer{slow, {chunks: hello}}, nil, 2, 1, 90 * time.Second, 90 * time.Second, "hello", ""},
		{"a provider that asks for too much", []answer{endless}, nil, 1, 0, 0, 0, "", pawl.ErrorRateLimited},
		{"an empty reply is asked for once more", []answer{{chunks: nothing}}, nil, 2, 1, 0, 2 * time.Second, "", pawl.ErrorEmpty},
		{"a key that is refused", []answer{failed(pawl.ErrorAuth)}, nil, 1, 0, 0, 0, "", pawl.ErrorAuth},
		{"an invalid request", []answer{failed(pawl.ErrorInvalid)}, []answer{{chunks: hello}}, 1, 0, 0, 0, "", pawl.ErrorInvalid},
		{"an overflow", []answer{failed(pawl.ErrorOverflow)}, []answer{{chunks: hello}}, 1, 0, 0, 0, "", pawl.ErrorOverflow},
		{"a refusal", []answer{failed(pawl.ErrorRefused)}, []answer{{chunks: hello}}, 1, 0, 0, 0, "", pawl.ErrorRefused},
		{"the next model", []answer{failed(pawl.ErrorOverloaded)}, []answer{{chunks: hello}}, 7, 6, 23 * time.Second, 39 * time.Second, "hello", ""},
		{"the next model at once", []answer{failed(pawl.ErrorAuth)}, []answer{{chunks: hello}}, 2, 1, 0, 0, "hello", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, b := &answers{list: tt.first}, &answers{list: tt.second}
				p := retrying{models: []named{{"a", a}}}
				if tt.second != nil {
					p.models = append(p.models, named{"b", b})
				}
				began := time.Now()
				text, retries, err := "", 0, error(nil)
				for c, e := range p.Stream(t.Context(), model.Request{}) {
					switch {
					case e != nil:
						err = e
					case c.Kind == model.ChunkRetry:
						text = ""
						retries++
					default:
						text += c.Text
					}
				}
				if took := time.Since(began); took < tt.min || took > tt.max {
					t.Errorf("it took %s, want %s to %s", took, tt.min, tt.max)
				}
				var failure *model.ProviderError
				kind := pawl.ErrorKind("")
				if errors.As(err, &failure) {
					kind, text = failure.Kind, ""
				}
				got := []any{a.calls + b.calls, retries, text, kind}
				if diff := cmp.Diff([]any{tt.calls, tt.retries, tt.text, tt.err}, got); diff != "" {
					t.Errorf("calls, retries, text, error (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// A cancel ends the waiting at once.
func TestCancelWhileWaiting(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		a := &answers{list: []answer{failed(pawl.ErrorServer)}}
		began := time.Now()
		var last error
		for _, err := range (retrying{models: []named{{"a", a}}}).Stream(ctx, model.Request{}) {
			last = err
		}
		if !errors.Is(last, context.DeadlineExceeded) || time.Since(began) != 100*time.Millisecond || a.calls != 1 {
			t.Errorf("after %s and %d calls: %v", time.Since(began), a.calls, last)
		}
	})
}
