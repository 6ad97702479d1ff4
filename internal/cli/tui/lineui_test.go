package tui

import "testing"

func TestScreenReader(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		from screenReader
		want bool
		bad  bool
	}{
		{"nobody", screenReader{terminal: "xterm"}, false, false},
		{"flag", screenReader{flag: true, flagGiven: true}, true, false},
		{"variable", screenReader{variable: "1"}, true, false},
		{"configured", screenReader{configured: true}, true, false},
		{"terminal", screenReader{terminal: "dumb"}, true, false},
		{"variable before configuration", screenReader{variable: "0", configured: true}, false, false},
		{"a dumb terminal whatever the variable says", screenReader{variable: "0", terminal: "dumb"}, true, false},
		{"flag before all", screenReader{flagGiven: true, variable: "1", configured: true, terminal: "dumb"}, false, false},
		{"flag before a wrong variable", screenReader{flag: true, flagGiven: true, variable: "maybe"}, true, false},
		{"wrong variable", screenReader{variable: "maybe", configured: true}, false, true},
	} {
		if got, err := c.from.wanted(); got != c.want || (err != nil) != c.bad {
			t.Errorf("%s: %v, %v", c.name, got, err)
		}
	}
}
