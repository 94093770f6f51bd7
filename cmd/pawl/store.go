package main

import (
	"errors"
	"fmt"
	"net/url"
	"runtime"
	"strings"

	"github.com/pawlgo/pawl"
)

const defaultStore = ".pawl"

// storeRef is where a store is, and who said so.
type storeRef struct{ dir, source string }

func (r storeRef) String() string { return cell(r.dir) + " (" + r.source + ")" }

// store finds out which store is meant: the flag, the environment, the default.
func (a *app) store() (storeRef, error) {
	value, source := defaultStore, "the default"
	if env := a.getenv("PAWL_STORE"); env != "" {
		value, source = env, "from PAWL_STORE"
	}
	if a.storeSet {
		value, source = a.storeFlag, "from --store"
	}
	dir, err := parseStore(value)
	if err != nil {
		p := explain(err)
		p.msg = "store " + source + ": " + p.msg
		return storeRef{}, p
	}
	return storeRef{dir, source}, nil
}

// parseStore returns the directory that a store's name means. Names of other
// places may hold passwords and are never repeated.
func parseStore(value string) (string, error) {
	if value == "" {
		return "", &problem{exit: exitUsage, code: "usage", msg: "the name is empty", hint: "give a directory"}
	}
	scheme, rest, found := strings.Cut(value, ":")
	if !found || len(scheme) < 2 || strings.ContainsAny(scheme, `/\.`) { // one letter is a drive
		return value, nil
	}
	hasHost := strings.HasPrefix(rest, "//")
	switch scheme {
	case "file":
		if !hasHost {
			if rest == "" {
				return parseStore("")
			}
			return rest, nil
		}
		u, err := url.Parse(value)
		if err != nil || u.Host != "" && u.Host != "localhost" || u.Path == "" {
			return "", &problem{exit: exitUsage, code: "usage", msg: "not a file URL of this machine", hint: "write file:DIR or file:///absolute/dir"}
		}
		if runtime.GOOS == "windows" {
			return strings.TrimPrefix(u.Path, "/"), nil
		}
		return u.Path, nil
	case "postgres", "postgresql":
		return "", &problem{exit: exitUsage, code: "unsupported", msg: "stores in PostgreSQL are not built yet", hint: "this version opens directories only"}
	}
	if hasHost {
		return "", &problem{exit: exitUsage, code: "unsupported", msg: fmt.Sprintf("%s: is no kind of store", inline(scheme)), hint: "this version opens directories only: DIR or file:DIR"}
	}
	return value, nil
}

// open opens the store for looking. Nothing is ever created.
func (a *app) open() (*pawl.Store, storeRef, error) {
	ref, err := a.store()
	if err != nil {
		return nil, ref, err
	}
	s, err := pawl.Open(ref.dir, pawl.MustExist())
	switch {
	case err == nil:
		return s, ref, nil
	case errors.Is(err, pawl.ErrNotFound):
		hint := "nothing was created; check the path"
		if ref.source == "the default" {
			hint = "nothing was created; name a store with --store DIR or PAWL_STORE, or see one at work: pawl demo"
		}
		return nil, ref, &problem{exit: exitNotFound, code: "no_store", msg: fmt.Sprintf("there is no store at %s", ref), hint: hint}
	case errors.Is(err, pawl.ErrInvalid):
		return nil, ref, &problem{exit: exitUsage, code: "not_a_store", msg: fmt.Sprintf("%s is not a store: it has no store.json and holds other files", ref), hint: "nothing was changed; name the directory that the program gives to pawl.Open"}
	}
	return nil, ref, &problem{msg: fmt.Sprintf("the store at %s cannot be opened", ref), err: err}
}

// again returns what names the same store in a command to type next.
func (a *app) again() string {
	if _, err := parseStore(a.storeFlag); err != nil || !a.storeSet {
		return "" // it may hold a password
	}
	return " --store " + quoteArg(a.storeFlag)
}
