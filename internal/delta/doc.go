// Package delta computes and applies the difference of two JSON texts as a
// JSON Patch (RFC 6902), on bytes: what [Apply] gives back is the new text byte
// for byte, with every number and string escape as it was written.
//
// # Texts
//
// Both texts are JSON as RFC 8259 has it and compact: no insignificant
// whitespace, valid UTF-8 without lone surrogates, no two members of one name
// in an object, nested at most 9,000 deep. pawl's encoder writes nothing else.
// A text that breaks these rules never makes a function here panic or read out
// of bounds, but a patch made from it may not lead back to it.
//
// # Patches
//
// A patch is a compact JSON array (RFC 6902, section 3) of the operations "add",
// "remove" and "replace" (sections 4.1 to 4.3). The others are refused: "test"
// would compare numbers by value (section 4.6), "move" and "copy" are never
// written.
//
// # Where a new member goes
//
// To RFC 6902 the members of an object have no order; to a text they have one.
// A member that an "add" creates stands at the end of its object, or, if the
// operation has the member "before", in front of the member that it names:
//
//	{"op":"add","path":"/usage/gpt","value":3,"before":"ollama"}
//
// Section 4 demands that readers ignore members an operation does not define,
// so any other implementation of JSON Patch applies these patches as well and
// arrives at an equal document, in whatever order it keeps members. Explicit
// placement was chosen over one found by comparing names: it serves struct
// fields, which are in no order of names, and sorted maps alike, it costs
// nothing when members are appended, and it does not depend on what else the
// object holds. "before" is meaningful only where an "add" creates a member; it
// is ignored in arrays and where the member exists.
//
// The new member's name is spelled as the last segment of "path" is in the
// patch, with ~1 and ~0 turned into / and ~, so that escapes survive here too.
//
// # Why the result is exact
//
// [Diff] walks both texts in step and copies a piece of the new text into the
// patch wherever the old one does not have the very same bytes. It holds the
// following for each pair of values it has walked past: applying the operations
// written so far turns the one's bytes into the other's. For values that are
// equal, or are replaced, that is so by itself. In an array, elements are kept,
// added and removed from left to right, so an index always counts elements that
// are final. In an object, names are compared as spelled; members are first
// removed, then those that stay are in the order of the new text (any that are
// not have been removed to be added again), and each new one is put before the
// next one that stays. What cannot be said this way, such as a new member whose
// name spells a slash as an escape, replaces the object around it.
package delta
