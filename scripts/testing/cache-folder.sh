# Sets `cache` to the folder in which tests keep what they fetch; to be sourced.
case $(uname) in
  Darwin) caches=$HOME/Library/Caches ;;
  *) caches=$HOME/.cache ;;
esac
cache=${XDG_CACHE_HOME:-$caches}/gaia-mesh
