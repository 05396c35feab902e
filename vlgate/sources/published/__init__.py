"""The figures that the papers print, one TOML file per paper."""
