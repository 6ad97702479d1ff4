package serve

import (
	"strings"
	"testing"

	"rsc.io/qr"
)

// TestQRCode reads the drawn modules back.
func TestQRCode(t *testing.T) {
	t.Parallel()
	const text = "https://pawl.example.com/signin?link=pawl_link_0123456789012345678901234567890123456789012"
	drawn, err := qrCode(text)
	if err != nil {
		t.Fatal(err)
	}
	code, err := qr.Encode(text, qr.L)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(drawn, "\n"), "\n")
	for y := range code.Size {
		for x := range code.Size {
			line := []rune(lines[(y+quietZone)/2])
			light := strings.ContainsRune([]string{"█▀", "█▄"}[(y+quietZone)%2], line[x+quietZone])
			if light == code.Black(x, y) || len(line) != code.Size+2*quietZone {
				t.Fatalf("the module at %d, %d is wrong:\n%s", x, y, drawn)
			}
		}
	}
	if width := code.Size + 2*quietZone; width > 80 || strings.Trim(lines[0], "█") != "" {
		t.Errorf("it has %d columns and begins with %q", width, lines[0])
	}
}

func TestBase(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		listen string
		flags  serverFlags
		want   string
	}{
		{"127.0.0.1:4747", serverFlags{}, "http://127.0.0.1:4747"},
		{"localhost:4747", serverFlags{cert: "c"}, "https://localhost:4747"},
		{"[::1]:4747", serverFlags{}, "http://[::1]:4747"},
		{"0.0.0.0:4747", serverFlags{}, ""},
		{"[::]:4747", serverFlags{}, ""},
		{"0.0.0.0:4747", serverFlags{hosts: []string{"build.example.com"}, cert: "c"}, "https://build.example.com:4747"},
		{"0.0.0.0:4747", serverFlags{hosts: []string{"build.example.com:8443"}, cert: "c"}, "https://build.example.com:8443"},
		{"127.0.0.1:4747", serverFlags{url: "https://pawl.example.com"}, "https://pawl.example.com"},
		{"unix", serverFlags{}, ""},
	} {
		p, err := parseListen(c.listen)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := c.flags.base(p); got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s %+v: %q, %v, want %q", c.listen, c.flags, got, err, c.want)
		}
	}
}
