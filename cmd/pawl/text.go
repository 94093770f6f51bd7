package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Run IDs, keys and error texts come from programs and models. Nothing of them
// may reach a terminal as a control sequence or turn the direction of a line.

// cell returns s as it is if it is plain text, else as a Go string in quotes, so
// that two different strings never look the same.
func cell(s string) string {
	if s == "" || s[0] == '"' || s[0] == ' ' || s[len(s)-1] == ' ' || inline(s) != s {
		return strconv.Quote(s)
	}
	return s
}

// inline escapes what is not printable, for prose.
func inline(s string) string {
	clean := true
	for _, r := range s {
		if !unicode.IsPrint(r) || r == utf8.RuneError {
			clean = false
			break
		}
	}
	if clean {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if unicode.IsPrint(r) && (r != utf8.RuneError || n > 1) {
			b.WriteString(s[i : i+n])
		} else {
			q := strconv.Quote(s[i : i+n])
			b.WriteString(q[1 : len(q)-1])
		}
		i += n
	}
	return b.String()
}

// quoteArg returns s as one word of a POSIX shell.
func quoteArg(s string) string {
	if inline(s) != s {
		// bash, zsh and ksh know this form; strconv's escapes mean the same there.
		return "$'" + strings.ReplaceAll(strings.Trim(strconv.QuoteToASCII(s), `"`), "'", `\'`) + "'"
	}
	if s != "" && !strings.ContainsAny(s, " '\"\\$&;|<>()*?[]{}~#!`") {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// safeJSON escapes, inside JSON text, what a terminal could take for a command:
// DEL, the C1 controls and what changes the direction of text. JSON has such
// characters only within strings, where the escape means the same. Bytes that are not UTF-8,
// and so no JSON, become U+FFFD.
func safeJSON(text []byte) []byte {
	var out []byte
	last := 0
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		if invalid := r == utf8.RuneError && n == 1; invalid || r == 0x7f || r > 0x7f && !unicode.IsPrint(r) {
			out = append(out, text[last:i]...)
			switch {
			case invalid:
				out = append(out, "\ufffd"...)
			case r > 0xffff:
				r -= 0x10000
				out = fmt.Appendf(out, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
			default:
				out = fmt.Appendf(out, `\u%04x`, r)
			}
			last = i + n
		}
		i += n
	}
	if last == 0 {
		return text
	}
	return append(out, text[last:]...)
}

// width is how many columns of a terminal s takes, nearly.
func width(s string) int {
	w := 0
	for _, r := range s {
		w += runeWidth(r)
	}
	return w
}

func runeWidth(r rune) int {
	switch {
	case unicode.Is(unicode.Mn, r):
		return 0
	case r >= 0x1100 && r <= 0x115f, r >= 0x2e80 && r <= 0xa4cf, r >= 0xac00 && r <= 0xd7a3, r >= 0xf900 && r <= 0xfaff,
		r >= 0xfe30 && r <= 0xfe6f, r >= 0xff00 && r <= 0xff60, r >= 0xffe0 && r <= 0xffe6, r >= 0x1f300 && r <= 0x1faff, r >= 0x20000 && r <= 0x3fffd:
		return 2
	}
	return 1
}

// cut shortens s to at most n columns.
func cut(s string, n int) string {
	if n < 1 || width(s) <= n {
		return s
	}
	w := 0
	for i, r := range s {
		if w += runeWidth(r); w > n-1 {
			return s[:i] + "…"
		}
	}
	return s
}

// wrap breaks s into lines of at most n columns, between words where it can.
func wrap(s string, n int) []string {
	var lines []string
	for width(s) > n {
		w, at, space := 0, len(s), -1
		for i, r := range s {
			if w += runeWidth(r); w > n {
				at = i
				break
			}
			if r == ' ' {
				space = i
			}
		}
		if space > 0 && s[at] != ' ' {
			at = space
		}
		lines = append(lines, s[:at])
		s = strings.TrimPrefix(s[at:], " ")
	}
	return append(lines, s)
}

// firstLine returns the first line of a text and says how many follow.
func firstLine(s string) string {
	s = strings.TrimRight(s, "\n")
	first, rest, more := strings.Cut(s, "\n")
	if !more {
		return inline(first)
	}
	return fmt.Sprintf("%s (+%s)", inline(first), count(strings.Count(rest, "\n")+1, "line"))
}

// size returns a number of bytes for people.
func size(n int64) string {
	f, unit := float64(n), 0
	for f >= 999.5 && unit < 4 {
		f /= 1000
		unit++
	}
	if unit == 0 {
		return fmt.Sprintf("%d B", n)
	}
	digits := 1
	if f >= 99.5 {
		digits = 0
	}
	return fmt.Sprintf("%.*f %cB", digits, f, " kMGT"[unit])
}

// took returns a duration for people.
func took(d time.Duration) string {
	switch {
	case d >= time.Minute:
		return d.Round(time.Second).String()
	case d >= time.Second:
		return d.Round(10 * time.Millisecond).String()
	case d >= time.Millisecond:
		return d.Round(10 * time.Microsecond).String()
	}
	return d.String()
}

// age returns how long ago t is, for people.
func age(t, now time.Time) string {
	d := now.Sub(t)
	switch {
	case t.IsZero():
		return "-"
	case d < -time.Minute: // the writer's clock is ahead
		return stamp(t)
	case d < time.Second:
		return "just now"
	case d < time.Minute:
		return fmt.Sprintf("%ds ago", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm ago", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh ago", int(d.Hours()))
	case d < 60*24*time.Hour:
		return fmt.Sprintf("%dd ago", int(d.Hours()/24))
	}
	return t.UTC().Format(time.DateOnly)
}

// stamp returns a time in UTC, to the second. Zero is "-".
func stamp(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format(time.RFC3339)
}

// count returns "1 step", "2 steps".
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if strings.HasSuffix(noun, "ch") {
		noun += "e"
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
