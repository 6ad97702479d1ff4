package httpapi

import (
	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/api"
	"github.com/pawl-dev/pawl/internal/fault"
)

// manageHandlers maps the routes that manage the machine to their handlers.
var manageHandlers = map[string]handlerFunc{
	"getConfig": func(_ *response, r *request) (any, error) {
		dir := r.query.Get("dir")
		if dir != "" {
			var err error
			if dir, err = r.checkDir(dir); err != nil {
				return nil, err
			}
		}
		return r.server.Manage.Config(r.Context(), dir)
	},
	"setConfigValue": func(w *response, r *request) (any, error) {
		in, err := decode[api.ConfigValue](w, r)
		if err != nil {
			return nil, err
		}
		return configHash(r.server.Manage.SetValue(r.Context(), in.Key, in.Value, in.Hash))
	},
	"listProviders": func(_ *response, r *request) (any, error) {
		list, err := r.server.Manage.Providers(r.Context())
		return api.Providers{Providers: orEmpty(list)}, err
	},
	"setKey": func(w *response, r *request) (any, error) {
		in, err := decode[api.ProviderKey](w, r)
		if err != nil {
			return nil, fault.New(pawl.ErrInvalid, "invalid body: it must have a key, and nothing else") // err may quote the key
		}
		return r.server.Manage.SetKey(r.Context(), r.PathValue("provider"), in.Key)
	},
	"deleteKey": func(_ *response, r *request) (any, error) {
		return r.server.Manage.DeleteKey(r.Context(), r.PathValue("provider"))
	},
	"testKey": func(_ *response, r *request) (any, error) {
		return r.server.Manage.TestKey(r.Context(), r.PathValue("provider"))
	},
	"getPermissions": func(_ *response, r *request) (any, error) {
		dir, err := r.checkDir(r.query.Get("dir"))
		if err != nil {
			return nil, err
		}
		return r.server.Manage.Permissions(r.Context(), dir)
	},
	"addRule": func(w *response, r *request) (any, error) {
		in, err := decode[api.RuleChange](w, r)
		if err != nil {
			return nil, err
		}
		return configHash(r.server.Manage.AddRule(r.Context(), in.Rule, in.Hash))
	},
	"removeRule": func(w *response, r *request) (any, error) {
		in, err := decode[api.RuleChange](w, r)
		if err != nil {
			return nil, err
		}
		return configHash(r.server.Manage.RemoveRule(r.Context(), in.Rule, in.Hash))
	},
	"revokeAnswer": func(_ *response, r *request) (any, error) {
		return nil, r.server.Manage.RevokeAnswer(r.Context(), r.PathValue("answer"))
	},
	"listExtensions": func(_ *response, r *request) (any, error) {
		dir, err := r.checkDir(r.query.Get("dir"))
		if err != nil {
			return nil, err
		}
		return r.server.Manage.Extensions(r.Context(), dir)
	},
	"setServer": func(w *response, r *request) (any, error) {
		in, err := decode[api.ServerChange](w, r)
		if err != nil {
			return nil, err
		}
		return configHash(r.server.Manage.EnableServer(r.Context(), r.PathValue("server"), in.Enabled, in.Hash))
	},
	"removeServer": func(_ *response, r *request) (any, error) {
		return configHash(r.server.Manage.RemoveServer(r.Context(), r.PathValue("server"), r.query.Get("hash")))
	},
}

func configHash(hash string, err error) (any, error) { return api.ConfigHash{Hash: hash}, err }

// forOperator returns a handler that rejects everyone but the user who runs the server: users of
// a tenant, and other users of the machine, may not manage it, whatever their scope.
func forOperator(do handlerFunc) handlerFunc {
	return func(w *response, r *request) (any, error) {
		if r.principal.User != "" || r.principal.Tenant != "" {
			return nil, fault.New(pawl.ErrDenied, "only the user who runs the server can manage it")
		}
		return do(w, r)
	}
}
