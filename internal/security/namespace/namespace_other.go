//go:build !linux

package namespace

func hiddenRoot() uint32 { return 0 }
