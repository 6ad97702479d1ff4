package chat

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/frontend/tui/layout"
)

// ours are the sequences that pawl itself prints: colors, and links to the web.
var ours = regexp.MustCompile("\x1b\\[[0-9;:]*m|\x1b\\]8;;(https?://[!-~]*)?\x07")

// steers says what in a line of the screen could act on a terminal, or hide.
func steers(line string) string {
	if !utf8.ValidString(line) {
		return "bytes that are not UTF-8"
	}
	for _, r := range ours.ReplaceAllString(line, "") {
		switch {
		case unicode.IsControl(r):
			return fmt.Sprintf("a control character %U", r)
		case unicode.Is(unicode.Bidi_Control, r), r == '\u2028', r == '\u2029', r >= 0xe0000 && r < 0xf0000:
			return fmt.Sprintf("a character that hides %U", r)
		}
	}
	return ""
}

// hostile are the pieces that texts of third parties are made of.
var hostile = []string{
	"\x1b[2J", "\x1b]0;title\x07", "\x1b]52;c;cm0=\x1b\\", "\x1b]8;;https://evil.test/\x07click\x1b]8;;\x07", "\x1bP1$r\x1b\\", "\x9b31m", "\u009b31m", "\u009d0;x\u009c",
	"\r", "\b\b\b", "\x7f", "\x00", "\u202e", "\u2066", "\U000e0041", "\u2028", "\xff\xfe", "\x1b", "\x1b[", "\n", "\t", "日本語", "👩‍💻", "a", " ", "`", "**", "```\n", "| a | b |\n|---|---|\n",
	"[x](https://a.test/\x1b]52;c;eA==\x07)", "<https://a.test/\u202e>", "[y](javascript:x)", "https://a.test/\x07b", "@@ -1 +1 @@\n", "+", "- ", "> ", "# ",
}

// spoil puts untrusted text into every string of a value that is free text.
func spoil(t *rapid.T, v reflect.Value) {
	switch v.Kind() {
	case reflect.Interface:
		if !v.IsNil() {
			fresh := reflect.New(v.Elem().Type()).Elem()
			fresh.Set(v.Elem())
			spoil(t, fresh)
			v.Set(fresh)
		}
	case reflect.Pointer:
		if !v.IsNil() {
			fresh := reflect.New(v.Type().Elem())
			fresh.Elem().Set(v.Elem())
			spoil(t, fresh.Elem())
			v.Set(fresh)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			name := v.Type().Field(i).Name // a tool's is left mostly: each has a card of its own
			if v.Field(i).CanSet() && (name != "Tool" && name != "Name" || rapid.IntRange(0, 7).Draw(t, "name") == 0) {
				spoil(t, v.Field(i))
			}
		}
	case reflect.Slice:
		if v.IsNil() {
			return
		}
		if v.Type() == reflect.TypeFor[json.RawMessage]() && v.Len() > 0 {
			spoilJSON(t, v)
			return
		}
		fresh := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(fresh, v)
		for i := range fresh.Len() {
			spoil(t, fresh.Index(i))
		}
		v.Set(fresh)
	case reflect.Map:
		fresh := reflect.MakeMap(v.Type())
		for _, k := range v.MapKeys() {
			value := reflect.New(v.Type().Elem()).Elem()
			value.Set(v.MapIndex(k))
			spoil(t, value)
			fresh.SetMapIndex(k, value)
		}
		v.Set(fresh)
	case reflect.String:
		if v.Type() == reflect.TypeFor[string]() || v.Type() == reflect.TypeFor[pawl.ErrorKind]() {
			v.SetString(spoiled(t, v.String()))
		}
	}
}

// spoiled is a text with an untrusted in it, or before it.
func spoiled(t *rapid.T, s string) string {
	bad := strings.Join(rapid.SliceOfN(rapid.SampledFrom(hostile), 0, 4).Draw(t, "text"), "")
	if rapid.Bool().Draw(t, "before") {
		return bad + s
	}
	return s + bad
}

func spoilJSON(t *rapid.T, v reflect.Value) {
	var in any
	if json.Unmarshal(v.Bytes(), &in) != nil {
		return
	}
	data, err := json.Marshal(spoilAny(t, in))
	if err == nil {
		v.SetBytes(data)
	}
}

func spoilAny(t *rapid.T, in any) any {
	switch in := in.(type) {
	case string:
		return spoiled(t, in)
	case []any:
		for i := range in {
			in[i] = spoilAny(t, in[i])
		}
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(in)) {
			in[k] = spoilAny(t, in[k])
		}
		in[spoiled(t, "key")] = spoiled(t, "value")
	}
	return in
}

// Whatever third parties write into whatever event, nothing of it steers the terminal,
// and no line is wider than the screen.
func TestNothingSteersTheTerminal(t *testing.T) {
	t.Parallel()
	names := slices.Sorted(maps.Keys(samples))
	rapid.Check(t, func(t *rapid.T) {
		tl := newEventBuilder()
		samples[rapid.SampledFrom(names).Draw(t, "scene")](tl)
		for i := range tl.events {
			body := reflect.New(reflect.TypeFor[pawl.Body]()).Elem()
			body.Set(reflect.ValueOf(tl.events[i].Body))
			spoil(t, body)
			tl.events[i].Body, _ = body.Interface().(pawl.Body)
		}
		v := NewView(tl.log(), themes[rapid.SampledFrom([]string{"dark", "plain"}).Draw(t, "theme")])
		v.Resize(rapid.SampledFrom([]int{30, 80, 125}).Draw(t, "width"), 200)
		for range 2 {
			v.Find()
			v.find.query = "a"
			for _, line := range v.Render() {
				if fault := steers(line); fault != "" {
					t.Fatalf("%s in %q", fault, line)
				}
				if n := ansi.StringWidth(line); n > v.width {
					t.Fatalf("%d cells of %d: %q", n, v.width, line)
				}
			}
			if fault := steers(strings.ReplaceAll(layout.Join(all(v)), "\n", "")); fault != "" {
				t.Fatalf("what is copied has %s", fault)
			}
			v.ToggleAll()
		}
	})
}

// The test above must see what it looks for.
func TestSteersIsSeen(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"\x1b[2J", "\x1b]0;x\x07", "\x1b]8;;file:///etc\x07", "\x1b]52;c;eA==\x07", "a\rb", "\u202e", "\u009b", "\xff"} {
		if steers(bad) == "" {
			t.Errorf("%q passes", bad)
		}
	}
}
