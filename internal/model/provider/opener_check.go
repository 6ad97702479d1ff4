package provider

import "context"

// Check returns why a model cannot be opened, or nil.
func (o *Opener) Check(_ context.Context, ref string) error {
	_, err := o.Open(ref)
	return err
}
