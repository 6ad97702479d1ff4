//go:build !linux

package sandbox

// Release takes away what sandboxes have left in workspaces: here, nothing.
func Release() {}

func isHeld(string) bool { return false }
