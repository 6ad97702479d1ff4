package edit

const (
	maxCells  = 4 << 20 // in the table of one comparison of lines
	sameLimit = 512     // bytes of the texts that sameBytes compares
)

// common returns a longest common subsequence of a and b: for each element of
// a, its index in b or -1. If the comparison would be too large, it finds only
// common elements at both ends. cells is a measure of the work.
func common[T comparable](a, b []T) (at []int, cells int) {
	at = make([]int, len(a))
	for i := range at {
		at[i] = -1
	}
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		at[head] = head
		head++
	}
	enda, endb := len(a), len(b)
	for enda > head && endb > head && a[enda-1] == b[endb-1] {
		enda--
		endb--
		at[enda] = endb
	}
	x, y := a[head:enda], b[head:endb]
	if len(x) == 0 || len(y) == 0 {
		return at, 0
	}
	if len(x)+1 > maxCells/(len(y)+1) {
		return at, 0
	}
	wide := len(y) + 1
	cells = (len(x) + 1) * wide
	best := make([]int32, cells) // lengths for x[i:] and y[k:]
	for i := len(x) - 1; i >= 0; i-- {
		for k := len(y) - 1; k >= 0; k-- {
			if x[i] == y[k] {
				best[i*wide+k] = best[(i+1)*wide+k+1] + 1
			} else {
				best[i*wide+k] = max(best[(i+1)*wide+k], best[i*wide+k+1])
			}
		}
	}
	for i, k := 0, 0; i < len(x) && k < len(y); {
		switch {
		case x[i] == y[k]:
			at[head+i] = head + k
			i++
			k++
		case best[(i+1)*wide+k] >= best[i*wide+k+1]:
			i++
		default:
			k++
		}
	}
	return at, cells
}

// sameBytes returns the length of a longest common subsequence of two texts.
// For texts longer than sameLimit it counts only equal bytes at both ends.
func sameBytes(a, b string) int {
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	a, b = a[head:], b[head:]
	tail := 0
	for tail < len(a) && tail < len(b) && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	a, b = a[:len(a)-tail], b[:len(b)-tail]
	if len(a) > sameLimit || len(b) > sameLimit {
		return head + tail
	}
	var row [sameLimit + 1]int
	for i := range len(a) {
		last := 0
		for k := range len(b) {
			was := row[k+1]
			if a[i] == b[k] {
				row[k+1] = last + 1
			} else {
				row[k+1] = max(row[k], was)
			}
			last = was
		}
	}
	return head + row[len(b)] + tail
}
