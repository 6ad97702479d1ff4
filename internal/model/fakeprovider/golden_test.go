package fakeprovider_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/model/fakeprovider"
	"github.com/pawl-dev/pawl/internal/model/modeltest"
)

// scripts are the replies whose streams are kept as golden files.
var scripts = []struct{ name, line string }{
	{"text", `{"text":"Hello, wörld.","deltas":3}`},
	{"reasoning", `{"reasoning":"Let me see.","text":"Done <b>.","deltas":2}`},
	{"call", `{"text":"I look.","calls":[{"name":"read","input":{"path":"a.go"}}]}`},
	{"parallel", `{"reasoning":"Both.","calls":[{"name":"read","input":{"path":"a.go"}},{"name":"list"}]}`},
	{"usage", `{"text":"ok","usage":{"input":100,"output":20,"reasoning":5,"cache_read":1000,"cache_write":300}}`},
	{"max_tokens", `{"text":"cut","finish":"max_tokens"}`},
	{"refusal", `{"fault":"refusal"}`},
	{"stream_error", `{"text":"abcd","fault":"stream_error"}`},
	{"garbage", `{"fault":"garbage"}`},
}

func TestGolden(t *testing.T) {
	t.Parallel()
	for _, p := range protocols {
		var got strings.Builder
		for _, s := range scripts {
			srv := modeltest.StartFake(t, fakeprovider.Config{}, s.line)
			r := post(t.Context(), srv.URL, p, history{}.body(p))
			if r.err != nil || r.status != 200 {
				t.Fatalf("%s %s: %d %v %s", p, s.name, r.status, r.err, r.body)
			}
			got.WriteString("# " + s.name + ": " + s.line + "\n\n" + strings.ReplaceAll(r.body, "\r\n", "\n"))
		}
		compare(t, string(p)+".golden.txt", got.String())
	}
}

// The forms that are not streamed.
func TestGoldenWhole(t *testing.T) {
	t.Parallel()
	for _, p := range protocols {
		var got strings.Builder
		for _, s := range scripts {
			if s.name == "stream_error" {
				continue // there is no stream
			}
			srv := modeltest.StartFake(t, fakeprovider.Config{}, s.line)
			body := strings.NewReplacer(`"stream":true,`, "", `"stream_options":{"include_usage":true},`, "").Replace(history{}.body(p))
			url := srv.URL + strings.Replace(paths[p], "streamGenerateContent?alt=sse", "generateContent", 1)
			r := send(t.Context(), url, body)
			if r.err != nil || r.status != 200 {
				t.Fatalf("%s %s: %d %v %s", p, s.name, r.status, r.err, r.body)
			}
			got.WriteString("# " + s.name + "\n" + r.body + "\n")
		}
		compare(t, string(p)+"_whole.golden.txt", got.String())
	}
}

func compare(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-update writes it anew): %s", name, diff)
	}
}
