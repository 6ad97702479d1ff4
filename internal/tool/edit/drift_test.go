package edit

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// codeLine is a line of a made-up program.
type codeLine struct {
	level int
	text  string
}

// look is how someone writes a program down.
type look struct {
	unit  string // of indentation
	more  int    // levels
	tails int    // which lines have blanks at their ends
	wide  bool   // two blanks for one within lines
}

func (l look) line(c codeLine) string {
	sum := 0
	for _, b := range []byte(c.text) { // equal lines look alike
		sum += int(b)
	}
	text := c.text
	if l.wide {
		text = strings.ReplaceAll(text, " ", "  ")
	}
	if l.tails > 0 && sum%l.tails == 0 {
		text += "  "
	}
	return strings.Repeat(l.unit, c.level+l.more) + text
}

func (l look) lines(code []codeLine) []string {
	lines := make([]string, len(code))
	for i, c := range code {
		lines[i] = l.line(c)
	}
	return lines
}

func drawLook(t *rapid.T, name string, code []codeLine) look {
	least := slices.MinFunc(code, func(a, b codeLine) int { return a.level - b.level }).level
	return look{
		unit:  rapid.SampledFrom([]string{"\t", "  ", "    "}).Draw(t, name+" unit"),
		more:  rapid.IntRange(-least, 2).Draw(t, name+" more"),
		tails: rapid.IntRange(0, 3).Draw(t, name+" tails"),
		wide:  rapid.IntRange(0, 4).Draw(t, name+" wide") == 0,
	}
}

// TestDrift changes a line of a program, with an Old and a New that are written
// down in another look than the file. The edit must be refused, or give what
// one would get who makes the change in the file by hand.
func TestDrift(t *testing.T) {
	t.Parallel()
	made := map[Pass]int{}
	check := func(t *rapid.T) {
		var code []codeLine
		for range rapid.IntRange(3, 14).Draw(t, "lines") {
			last := -1
			if len(code) > 0 {
				last = code[len(code)-1].level
			}
			code = append(code, codeLine{
				rapid.IntRange(0, last+1).Draw(t, "level"),
				rapid.SampledFrom([]string{"a = b", "call(one, two)", "}", "if x {", "return y + 1", "z()"}).Draw(t, "text"),
			})
		}
		from := rapid.IntRange(0, len(code)-2).Draw(t, "from")
		to := rapid.IntRange(from+2, len(code)).Draw(t, "to")
		at := rapid.IntRange(from, to-1).Draw(t, "at")
		fileLook := drawLook(t, "file", code)
		fileLook.more = 0
		oldLook := drawLook(t, "old", code[from:to])
		if rapid.IntRange(0, 3).Draw(t, "lost") == 0 {
			oldLook.unit = ""
		}

		after := slices.Clone(code)
		fresh := codeLine{code[at].level, "fresh(line)"}
		switch rapid.IntRange(0, 2).Draw(t, "change") {
		case 0:
			after[at] = fresh
		case 1:
			if oldLook.unit != "" { // or New cannot say so
				fresh.level += rapid.IntRange(0, 1).Draw(t, "deeper")
			}
			after = slices.Insert(after, at+1, fresh)
		case 2:
			after = slices.Delete(after, at, at+1)
		}
		old, wanted := oldLook.lines(code[from:to]), oldLook.lines(after[from:to+len(after)-len(code)])
		if quoted := rapid.IntRange(0, 8).Draw(t, "misquoted"); quoted > 0 && quoted < at-from {
			old[quoted] += " // so"
			wanted[quoted] = old[quoted]
		}
		// Where the first line goes, New's first one has the indentation of another.
		if (at > from || len(after) >= len(code)) && rapid.IntRange(0, 4).Draw(t, "first line cut") == 0 {
			old[0] = strings.TrimLeft(old[0], " \t")
			wanted[0] = strings.TrimLeft(wanted[0], " \t")
		}
		e := Edit{Old: strings.Join(old, "\n") + "\n"}
		if len(wanted) > 0 {
			e.New = strings.Join(wanted, "\n") + "\n"
		}
		text := strings.Join(fileLook.lines(code), "\n") + "\n"
		want := strings.Join(fileLook.lines(after), "\n") + "\n"
		outer := strings.Repeat(fileLook.unit, code[at].level)
		deeper := !slices.ContainsFunc(code[from:to], func(c codeLine) bool { return c.level == fresh.level })

		got, err := Replace(text, e)
		made[got.Pass]++ // "" counts the refused
		if err != nil {
			return
		}
		// Exact and Folded take what New says; that is right if the look is.
		if got.Pass != Exact && got.Pass != Folded && !sameProgram(got.Text, want, outer, deeper) {
			t.Fatalf("%s:\n%s\nbecame\n%s\nand not\n%s", got.Pass, text, got.Text, want)
		}
	}
	for range 10 {
		rapid.Check(t, check)
	}
	t.Log(made)
	for _, pass := range []Pass{Folded, Shifted, Spaced} {
		if made[pass] == 0 && !t.Failed() {
			t.Errorf("no edit was made as %s: the test does not test it", pass)
		}
	}
}

// sameProgram compares line by line. How a new line spells its blanks is not
// known, nor, if it is a level further in than outer, how far that is.
func sameProgram(got, want, outer string, deeper bool) bool {
	plain := func(line string) string {
		if !strings.Contains(line, "fresh") {
			return line
		}
		lead, core, _ := ends(line)
		if deeper && strings.HasPrefix(lead, outer) && len(lead) > len(outer) {
			lead = "further in "
		}
		return lead + spacedKey(core)
	}
	return slices.EqualFunc(strings.Split(got, "\n"), strings.Split(want, "\n"), func(a, b string) bool { return plain(a) == plain(b) })
}
