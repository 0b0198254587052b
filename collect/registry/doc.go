// Package registry lists the tags of an image, in the order in which its builds were made.
//
// In: the name of an image without a tag, and a pattern. Out: its tags from the registry's own list (OCI distribution
// specification 1.1, "Listing Tags"), ordered by the date or the version in each. It must not know what images are for,
// and it pulls none.
package registry
