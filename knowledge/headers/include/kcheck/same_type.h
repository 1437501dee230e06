#pragma once
// A parameter of this type takes no part in deducing T.
template <class T> struct kcheck_same { typedef T type; };
