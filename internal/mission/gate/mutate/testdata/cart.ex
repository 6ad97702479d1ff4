defmodule Cart do
  @moduledoc """
  A sample.
  """
  alias Shop.Item
  @limit 10

  def add(cart, item, count \\ 1) do
    if item == nil or count <= 0 do
      raise ArgumentError, "bad count"
    end

    total = cart.total + count * 2
    %{cart | total: total, name: "cart"}
  end

  test "adds" do
    assert Cart.add(%{}, 1) == 3
  end
end
