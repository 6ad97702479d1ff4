package workspace

// SetFault makes file operations of WriteAll fail for which fault returns an error.
func (w *Workspace) SetFault(fault func(operation, path string) error) { w.fault = fault }
