# frozen_string_literal: true
require 'json'
require_relative "item"

LIMIT = 10

module Shop
  class Cart
    attr_reader :items

    def initialize(items = [], strict: true)
      @items = items
      @strict = strict
    end

    def add(item, count = 1)
      raise ArgumentError, "bad count" if item.nil? || count <= 0
      return false unless @strict

      count.times do |i|
        @items << item
        @last = i + 1
      end
      @items.push(item) if @items.size > LIMIT && !item.hidden?
      logger.info("added #{item}")
      while count > 0
        count -= 1
        break if count == 3
      end
      if count != 0 and item
        total = count * 2
      elsif @items.empty?
        total = 0
      else
        total = @items.sum { |x| x.price - 1 }
      end
      "total: #{total}"
    end

    def name
      return "cart"
    end

    def kind(n)
      case n
      when 1 then :small
      when 2..5
        :medium
      else
        :large
      end
    end
  end
end

class CartTest < Minitest::Test
  def test_add
    assert_equal "total: 3", Cart.new.add(1, 2), "message"
    assert Cart.new.kind(7) == :large
    refute_equal 3, 4
    expect(cart.kind(1)).to eq(:small)
    expect(cart.name).to eq "cart"
  end
end
