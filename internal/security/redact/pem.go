package redact

import "strings"

// maxKey bounds a private key with its BEGIN and END lines, in bytes.
const maxKey = 16 << 10

// leastRun is the minimum length of a line of a key, except for the last one.
const leastRun = 32

// keySet has the characters of a private key, of its headers, and of what tools put
// around its lines (numbers, quotes, the + of a diff).
var keySet = setOf("+/= \t\r\n\\:,.\"'|-")

// privateKey matches a private key in PEM or PGP format. It needs a long run of key
// characters, so that source code that only contains the BEGIN line does not match. A
// truncated key matches up to its last line.
func privateKey(x text, i, j int) (span, verdict) {
	head := strings.Index(x.s[j:min(len(x.s), j+64)], "-----")
	if head < 0 {
		if len(x.s) < j+64 {
			return x.undecided()
		}
		return span{}, no
	}
	label := x.s[j : j+head]
	if !strings.HasSuffix(label, "PRIVATE KEY") && !strings.HasSuffix(label, "PRIVATE KEY BLOCK") {
		return span{}, no
	}
	j += head + len("-----")
	limit := min(len(x.s), j+maxKey)
	end := keySet.run(x.s[:limit], j)
	frame := "-----END " + label + "-----"
	if at := strings.Index(x.s[j:end], frame); at >= 0 {
		if lastRun(x.s[j:j+at]) < 0 {
			return span{}, no
		}
		return span{i, j + at + len(frame)}, yes
	}
	if end == len(x.s) && !x.last && end < j+maxKey {
		return span{}, more
	}
	last := lastRun(x.s[j:end])
	if last < 0 {
		return span{}, no
	}
	return span{i, j + last}, yes
}

// lastRun returns the end of the last line of a key, or -1.
func lastRun(s string) int {
	last := -1
	for i := 0; i < len(s); i++ {
		end := base64Set.run(s, i)
		if end-i >= leastRun && varied(s[i:end]) {
			last = end
		}
		i = end
	}
	return last
}
