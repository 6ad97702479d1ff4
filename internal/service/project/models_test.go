package project_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model/catalog"
	"github.com/pawl-dev/pawl/internal/service/project"
	"github.com/pawl-dev/pawl/internal/store"
)

const priced = catalog.Price(3_000_000_000)

func someModels(local string) *catalog.Catalog {
	return &catalog.Catalog{
		Providers: []catalog.Provider{
			{ID: "good", Name: "Good Models"}, {ID: "other", Name: "Other"}, {ID: "here", Name: "Here", Local: true, BaseURL: local + "/v1"},
			{ID: "gone", Name: "Gone", Local: true, BaseURL: "http://127.0.0.1:1/v1"},
		},
		Models: []catalog.Model{
			{Ref: "good/a", Provider: "good", Name: "A", Context: 1000, Prices: catalog.Prices{Input: priced, Output: 2 * priced}, Reasoning: true, Images: true},
			{Ref: "other/b", Provider: "other", Name: "B"},
		},
	}
}

// session makes a session that was last prompted with a model.
func (w *testEnv) session(id pawl.SessionID, model string) {
	w.Helper()
	_, err := w.store.Append(w.Context(), id, 0,
		pawl.Event{Body: pawl.SessionCreated{Dir: w.dir}},
		pawl.Event{Body: pawl.Prompted{Parts: pawl.Parts{pawl.Text{Text: "go"}}, Settings: pawl.Settings{Model: model}}})
	if err != nil {
		w.Fatal(err)
	}
}

const (
	firstID  = "01JQ0000000000000000000001"
	secondID = "01JQ0000000000000000000002"
	thirdID  = "01JQ0000000000000000000003"
)

func TestModels(t *testing.T) { //nolint:paralleltest // it sets environment variables
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"object":"list","data":[{"id":"small","max_model_len":8192}]}`)
	}))
	defer server.Close()
	var looked atomic.Int32
	keyed := "good"
	w := newEnv(t, func(c *project.Config) {
		c.Catalog = func() (*catalog.Catalog, error) { return someModels(server.URL), nil }
		c.HasKey = func(p catalog.Provider) bool { looked.Add(1); return p.ID == keyed }
	})
	w.session(firstID, "script:/tmp/a.jsonl")
	w.session(secondID, "good/a")
	w.session(thirdID, "script:/tmp/a.jsonl")
	want := []pawl.ModelInfo{
		{Ref: "good/a", Name: "A", Provider: "Good Models", Context: 1000, Input: pawl.Money(priced), Output: pawl.Money(2 * priced), Reasoning: true, Images: true},
		{Ref: "here/small", Name: "small", Provider: "Here", Context: 8192},
		{Ref: "script:/tmp/a.jsonl", Name: "a.jsonl", Provider: "script"},
	}
	same := func() {
		t.Helper()
		got, err := w.Models(t.Context())
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	}
	same()
	keyed = "other"
	same() // as it was a moment ago
	if n := looked.Load(); n != 2 {
		t.Errorf("it was looked for %d keys", n)
	}
	w.now = w.now.Add(time.Minute)
	want[0] = pawl.ModelInfo{Ref: "other/b", Name: "B", Provider: "Other"}
	same()
}

// An error is reported, and not kept.
func TestModelsFail(t *testing.T) { //nolint:paralleltest // it sets environment variables
	fails := true
	w := newEnv(t, func(c *project.Config) {
		c.Catalog = func() (*catalog.Catalog, error) {
			if fails {
				return nil, errors.New("it cannot be read")
			}
			return &catalog.Catalog{}, nil
		}
	})
	if _, err := w.Models(t.Context()); err == nil || err.Error() != "it cannot be read" {
		t.Errorf("%v", err)
	}
	fails = false
	if _, err := w.Models(t.Context()); err != nil {
		t.Error(err)
	}
}

// A keyring that waits for its owner holds nobody up, and is asked once.
func TestModelsWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		open := make(chan struct{})
		var asked atomic.Int32
		d := project.New(project.Config{
			Store: noSessions{},
			Catalog: func() (*catalog.Catalog, error) {
				return &catalog.Catalog{Providers: []catalog.Provider{{ID: "x"}}, Models: []catalog.Model{{Ref: "x/y", Provider: "x"}}}, nil
			},
			HasKey: func(catalog.Provider) bool { asked.Add(1); <-open; return true },
		})
		for range 3 {
			if _, err := d.Models(t.Context()); !errors.Is(err, pawl.ErrUnavailable) || !strings.Contains(err.Error(), "try again") {
				t.Errorf("%v", err)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := d.Models(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
		d.Close() // without waiting
		close(open)
		if got, err := d.Models(t.Context()); err != nil || len(got) != 1 || asked.Load() != 1 {
			t.Errorf("%v, %v, asked %d times", got, err, asked.Load())
		}
	})
}

// noSessions is a store with nothing in it.
type noSessions struct{ store.Store }

func (noSessions) Sessions(context.Context, pawl.Filter) (pawl.SessionPage, error) {
	return pawl.SessionPage{}, nil
}

func TestOutput(t *testing.T) { //nolint:paralleltest // it sets environment variables
	w := newEnv(t, func(c *project.Config) {
		c.Mask = func(r io.Reader) io.Reader {
			all, err := io.ReadAll(r)
			if err != nil {
				t.Error(err)
			}
			return bytes.NewReader(bytes.ReplaceAll(all, []byte("s3cret"), []byte("***")))
		}
	})
	w.session(firstID, "m")
	blob, err := w.store.PutBlob(t.Context(), firstID, strings.NewReader("it is s3cret\n"))
	if err != nil {
		t.Fatal(err)
	}
	out, err := w.Output(t.Context(), firstID, blob.ID)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(out)
	if err := errors.Join(err, out.Close()); err != nil || string(text) != "it is ***\n" {
		t.Errorf("%q, %v", text, err)
	}
	for _, wrong := range []struct {
		id   pawl.SessionID
		blob string
	}{{secondID, blob.ID}, {firstID, "../pawl.db"}, {firstID, ""}, {"..", blob.ID}, {"", ""}} {
		if _, err := w.Output(t.Context(), wrong.id, wrong.blob); !errors.Is(err, pawl.ErrNotFound) {
			t.Errorf("%v: %v", wrong, err)
		}
	}
}
