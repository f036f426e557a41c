# Installs a formula into $PREFIX from $TARBALL, whose files are in the current folder, and runs its test: with what the formula uses of Homebrew.
require "fileutils"
require "pathname"

class Pathname
  def install(*files)
    mkpath
    files.flatten.each { |file| FileUtils.cp(file, self) }
  end

  def install_symlink(*files)
    mkpath
    files.flatten.each { |file| FileUtils.ln_s(file, self) }
  end
end

class Formula
  class << self
    attr_reader :check
    %i[desc homepage url sha256 license depends_on].each { |name| define_method(name) { |_| } }

    def test(&block)
      @check = block
    end
  end

  places = { bin: "bin", libexec: "libexec", man1: "share/man/man1", bash_completion: "etc/bash_completion.d",
             fish_completion: "share/fish/vendor_completions.d", zsh_completion: "share/zsh/site-functions" }
  places.each { |name, path| define_method(name) { Pathname.new(ENV.fetch("PREFIX")) / path } }

  def version
    ENV.fetch("VERSION")
  end

  def std_npm_args
    ["--global", "--prefix=#{libexec}", "--offline", "--no-audit", "--no-update-notifier", ENV.fetch("TARBALL")]
  end

  def system(*command)
    Kernel.system(*command, out: :err) or raise command.join(" ")
  end

  def shell_output(command)
    `#{command}`
  end

  def assert_equal(expected, found)
    raise "#{found} is not #{expected}" if found != expected
  end
end

load ARGV.fetch(0)
formula = Coffer.new
formula.install
formula.instance_eval(&Coffer.check)
