local json = require("json")
local Cart = {}
local limit = 10

function Cart.add(self, item, count)
  if item == nil or count <= 0 then
    error("bad count")
  end
  for i = 1, count do
    table.insert(self.items, item)
  end
  self.total = self.total + count * 2
  if item ~= "a" and not self.strict then
    return false
  end
  return #self.items + 1
end

return Cart
