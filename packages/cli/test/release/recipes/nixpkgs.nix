# What a flake describes, with names in place of the packages and of what is downloaded.
path:
let
  each = names: f: builtins.listToAttrs (map (name: { inherit name; value = f name; }) names);
  pkgs = {
    fetchurl = { url, hash }: "/downloaded/${baseNameOf url}";
    installShellFiles = "installShellFiles";
    makeWrapper = "makeWrapper";
    nodejs_24 = "/nodejs_24";
    python3 = "python3";
    stdenv.mkDerivation = described: described;
  };
  lib = {
    genAttrs = each;
    concatMapStrings = f: list: builtins.concatStringsSep "" (map f list);
  };
  legacyPackages = each [ "x86_64-linux" "aarch64-linux" "x86_64-darwin" "aarch64-darwin" ] (_: pkgs);
in
((import path).outputs { self = null; nixpkgs = { inherit legacyPackages lib; }; }).packages
