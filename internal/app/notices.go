package app

import (
	"cmp"
	"context"
	"path/filepath"

	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/mission/webhook"
)

// openNotices opens the sender of notices about missions, as the administrator or the user configured it. A project
// cannot configure it.
func (b *builder) openNotices(context.Context) error {
	user, err := LoadUser()
	if err != nil {
		return err
	}
	managed, err := config.LoadManaged()
	if err != nil {
		return err
	}
	data, err := config.Data()
	if err != nil {
		return err
	}
	address := cmp.Or(managed.Notify.Webhook, user.Notify.Webhook)
	if address != "" {
		Secrets.Add("notify.webhook", address) // it may have a token in its path
		if err := webhook.CheckURL(address); err != nil {
			warn("no notices are sent: " + fault.Text(err))
			address = ""
		}
	}
	b.notices = webhook.New(webhook.Config{URL: address, Dir: filepath.Join(data, "notices"), Session: b.Store.Session})
	b.onClose("notices", func() error {
		if err := b.notices.Close(); err != nil { // the mission is not affected
			warn(err.Error())
		}
		return nil
	})
	return nil
}
