package redact

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

const providerKey = "pk.live:9f3b/2c+7a=="

func TestKnown(t *testing.T) {
	t.Parallel()
	var r Redactor
	r.Add("anthropic key", "  "+providerKey+"\n")
	r.Add("short", "1234567")
	r.Add("longer key", providerKey+"-more")
	r.Add("odd \"name\"\x1b", `quoted"\key`)
	for _, c := range []struct{ in, want string }{
		{"a " + providerKey + " b", "a [redacted: anthropic key] b"},
		{"x" + providerKey + providerKey, "x[redacted: anthropic key][redacted: anthropic key]"},
		{providerKey + "-more", "[redacted: longer key]"},
		{"?key=pk.live%3A9f3b%2F2c%2B7a%3D%3D&", "?key=[redacted: anthropic key]&"},
		{`{"k":"quoted\"\\key"}`, `{"k":"[redacted: odd name]"}`},
		{`"{\"k\":\"quoted\\\"\\\\key\"}"`, `"{\"k\":\"[redacted: odd name]\"}"`},
		{`quoted"\key`, "[redacted: odd name]"},
		{"1234567", "1234567"},
		{providerKey[:len(providerKey)-1], providerKey[:len(providerKey)-1]},
		{"ghp_" + some36, "ghp_" + some36},
	} {
		if got := r.Known(c.in); got != c.want {
			t.Errorf("%q: got %q, want %q", c.in, got, c.want)
		}
	}
	if got, want := r.Redact("ghp_"+some36+" "+providerKey), "[redacted: github token] [redacted: anthropic key]"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := new(Redactor).Known(providerKey); got != providerKey {
		t.Errorf("who knows nothing masks %q", got)
	}
}

// TestManyKnown: no number of keys is too many.
func TestManyKnown(t *testing.T) {
	t.Parallel()
	var r Redactor
	var all []string
	for i := range 400 {
		key := fmt.Sprintf("%c%c-key-%04d", 'a'+i/26, 'a'+i%26, i)
		all = append(all, key)
		r.Add("key", key)
	}
	got := r.Redact(strings.Join(all, " ") + " ghp_" + some36)
	if want := strings.Repeat("[redacted: key] ", 400) + "[redacted: github token]"; got != want {
		t.Errorf("got %q", got)
	}
}

func TestHeld(t *testing.T) {
	t.Parallel()
	var r Redactor
	r.AddEnv([]string{
		"OPENAI_API_KEY=env-key-0123456789", "HF_TOKEN=hf-token-0123456789", "AWS_BEARER_TOKEN_BEDROCK=bedrock-0123456789", "SCW_SECRET_KEY=scw-0123456789",
		"MAX_OUTPUT_TOKENS=320000000000", "TOKEN_FILE=/run/secrets/token0", "SECRET_URL=https://h0st/secret", "MY_SECRET=just-some-words", "EDITOR=vim-0123456789",
		"NO_VALUE", "API_KEY=",
	})
	r.AddHeaders("proxy", map[string]string{"Authorization": "Bearer " + "header-0123456789", "X-Title": "title-0123456789"})
	r.AddURL("store", "postgres://u:"+"dbpass-0123@h/d")
	r.AddURL("store", "/home/u/pawl.db")
	in := "env-key-0123456789 hf-token-0123456789 bedrock-0123456789 scw-0123456789 header-0123456789 dbpass-0123"
	if got := r.Known(in); strings.Contains(got, "0123") {
		t.Errorf("got %q", got)
	}
	for _, s := range []string{"320000000000", "/run/secrets/token0", "https://h0st/secret", "just-some-words", "vim-0123456789", "title-0123456789", "/home/u/pawl.db"} {
		if got := r.Known(s); got != s {
			t.Errorf("%q is masked: %q", s, got)
		}
	}
}

// redactor knows a key, for texts in which both it and shapes are found.
func redactor() *Redactor {
	r := &Redactor{}
	r.Add("anthropic key", providerKey)
	r.Add("other key", "pk.live:9f3c-and-more")
	return r
}

// written is the result of pieces.
func written(t interface{ Errorf(string, ...any) }, r *Redactor, pieces ...string) string {
	var b bytes.Buffer
	w := r.Writer(&b)
	for _, p := range pieces {
		if n, err := w.Write([]byte(p)); n != len(p) || err != nil {
			t.Errorf("write %q: %d, %v", p, n, err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Errorf("flush: %v", err)
	}
	return b.String()
}

// TestWriter: in whatever pieces a text comes, the whole is what Redact says.
func TestWriter(t *testing.T) {
	t.Parallel()
	r := redactor()
	texts := []string{"x " + providerKey + " y pk.live:9f3c-and-more", providerKey, "pk.live:9f3"}
	for _, c := range found {
		texts = append(texts, c.in, "a"+c.in+"\nb", c.in+c.in)
	}
	texts = append(texts, passed...)
	for _, s := range texts {
		want := r.Redact(s)
		for i := range len(s) + 1 {
			if got := written(t, r, s[:i], s[i:]); got != want {
				t.Fatalf("%q, %q: got %q, want %q", s[:i], s[i:], got, want)
			}
		}
		if got := written(t, r, strings.Split(s, "")...); got != want {
			t.Fatalf("%q, byte by byte: got %q, want %q", s, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Join(rapid.SliceOfN(rapid.SampledFrom(texts), 1, 4).Draw(t, "texts"), rapid.SampledFrom([]string{"", "\n", " "}).Draw(t, "between"))
		i := rapid.IntRange(0, len(s)).Draw(t, "i")
		j := rapid.IntRange(i, len(s)).Draw(t, "j")
		if got, want := written(t, r, s[:i], s[i:j], s[j:]), r.Redact(s); got != want {
			t.Errorf("%q, %q, %q: got %q, want %q", s[:i], s[i:j], s[j:], got, want)
		}
	})
}

// TestWriterHolds: only what may be the beginning of a secret is held back, and
// not without end.
func TestWriterHolds(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	w := redactor().Writer(&b)
	for _, c := range []struct{ in, want string }{
		{"building…\n", "building…\n"},
		{"see gh", "see "},
		{"ost\n", "ghost\n"},
		{"token gh", "token "},
		{"p_" + some36, ""},
		{"\n", "[redacted: github token]\n"},
		{"pk.live:9f3b", ""},
		{"!", "pk.live:9f3b!"},
	} {
		b.Reset()
		_, _ = w.Write([]byte(c.in))
		if got := b.String(); got != c.want {
			t.Errorf("after %q: got %q, want %q", c.in, got, c.want)
		}
	}
	b.Reset()
	for range 100 {
		_, _ = w.Write([]byte("sk-ant-" + strings.Repeat("ab1-", 1000)))
	}
	if held := len(w.held); held > maxHeld+4010 {
		t.Errorf("%d bytes are held back", held)
	}
}

func TestReader(t *testing.T) {
	t.Parallel()
	r := redactor()
	text := strings.Repeat("some line of text\n", 5000) + "ghp_" + some36 + "\n" + providerKey
	want := r.Redact(text)
	for name, in := range map[string]io.Reader{
		"whole": strings.NewReader(text), "halves": iotest.HalfReader(strings.NewReader(text)), "data with its end": iotest.DataErrReader(strings.NewReader(text)),
	} {
		if got, err := io.ReadAll(r.Reader(in)); string(got) != want || err != nil {
			t.Errorf("%s: %d bytes, %v; want %d", name, len(got), err, len(want))
		}
	}
	if _, err := io.ReadAll(r.Reader(iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader(text))))); err != iotest.ErrTimeout { //nolint:errorlint // it is handed on as it is
		t.Errorf("the reader's error is lost: %v", err)
	}
}

func TestProgress(t *testing.T) {
	t.Parallel()
	var shown []string
	show, flush := redactor().Progress(func(s string) { shown = append(shown, s) })
	show("a gh")
	show("p_" + some36[:10])
	show(some36[10:])
	show("\nb gh")
	flush()
	if got, want := strings.Join(shown, "|"), "a |[redacted: github token]\nb |gh"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func cleanText() string {
	return strings.Repeat("\tif err := s.store.Append(ctx, id, after, events...); err != nil { // through the log\n", 30_000/84+1)[:30_000]
}

// BenchmarkClean: 30 KB without a secret, which is what nearly all results are.
func BenchmarkClean(b *testing.B) {
	r, text := redactor(), cleanText()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		r.Redact(text)
	}
}

func FuzzWriter(f *testing.F) {
	for _, c := range found {
		f.Add(c.in, len(c.in)/2)
	}
	r := redactor()
	f.Fuzz(func(t *testing.T, s string, cut int) {
		cut = max(0, min(cut, len(s)))
		want := r.Redact(s)
		if got := written(t, r, s[:cut], s[cut:]); got != want && len(s) < maxKey {
			t.Errorf("%q, %q: got %q, want %q", s[:cut], s[cut:], got, want)
		}
		if again := r.Redact(want); again != want {
			t.Errorf("%q is %q, and again %q", s, want, again)
		}
	})
}
