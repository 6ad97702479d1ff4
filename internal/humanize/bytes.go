package humanize

// Bytes formats a measured size in decimal units: 950 bytes, 1.2 kB, 12 MB. For limits
// that are powers of two use [IBytes].
func Bytes[N int | int64](n N) string {
	return size(int64(n), 1000, "kB", "MB", "GB", "TB")
}

// IBytes formats a size in binary units: 512 bytes, 64 KiB, 1.5 GiB.
func IBytes[N int | int64](n N) string {
	return size(int64(n), 1024, "KiB", "MiB", "GiB", "TiB")
}

func size(n int64, base float64, units ...string) string {
	switch {
	case n < 0:
		return "-" + size(-n, base, units...)
	case float64(n) < base:
		return Plural(n, "byte")
	}
	text, unit := scaled(float64(n), base, 10, units...)
	return text + " " + unit
}
